package parallel

import "github.com/magpie-go/magpie/executor"

// countPieces returns into how many pieces inPieces cuts n elements, of which there are some.
func countPieces(n, grain int) int { return 1 + (n-1)/grain }

// inPieces calls do for pieces of grain elements, of which the last may have fewer: piece i is elements lo, …, hi-1 of
// n, which is not 0. The pieces run in parallel. Once j, if it is not nil, is stopped, the rest is left out.
func inPieces(s *executor.Scope, j *job, n, grain int, do func(i, lo, hi int)) {
	blocksOf(s, blocks{j, 0, countPieces(n, grain), n, grain, do})
}

// Blocks are pieces lo, …, hi-1 of n elements.
type blocks struct {
	job      *job
	lo, hi   int
	n, grain int
	do       func(i, lo, hi int)
}

func blocksOf(s *executor.Scope, b blocks) (none nothing) {
	if b.hi-b.lo == 1 {
		if b.job == nil || !b.job.stopped(s) {
			from := b.lo * b.grain
			b.do(b.lo, from, from+min(b.grain, b.n-from))
		}
		return
	}
	left, right := b, b
	left.hi = (b.lo + b.hi) / 2
	right.lo = left.hi
	f := executor.Fork(s, blocksOf, right)
	blocksOf(s, left)
	f.Join(s)
	return
}
