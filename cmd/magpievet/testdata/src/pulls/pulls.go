package pulls

import (
	"iter"

	"github.com/magpie-go/magpie/executor"
)

func uses(g *executor.Group, all iter.Seq[int], pairs iter.Seq2[int, int]) {
	next, stop := iter.Pull(all)
	defer stop()
	g.Go(func() error {
		next() // want `next of iter.Pull is used in a task that did not call Pull`
		return nil
	})
	g.Go(func() error {
		next, stop := iter.Pull2(pairs) // its own
		defer stop()
		next()
		return nil
	})
	first, _ := iter.Pull2(pairs)
	g.Go(func() error {
		use(first) // want `first of iter.Pull`
		return nil
	})
	next()
	var second, _ = iter.Pull2(pairs)
	g.Go(func() error {
		use(second) // want `second of iter.Pull`
		return nil
	})
}

func use(func() (int, int, bool)) {}
