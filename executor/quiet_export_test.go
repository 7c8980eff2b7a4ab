package executor

import (
	"time"

	"github.com/magpie-go/magpie/internal/xatomic"
)

// Hush lets the next run of b have a quiet guest.
func (b *Body) Hush() { b.memo.Store(1 | 2<<tempoBits | firstTrials<<(2*tempoBits)) }

// Forget lets the next run of b have a guest that is not quiet.
func (b *Body) Forget() { b.memo.Store(0) }

// Tempo returns what b knows of its runs.
func (b *Body) Tempo() (quiet, loud, count int64) { return tempo{&b.memo}.load() }

// StopQuietClock keeps the clock of quiet guests from being set.
func (ex *Executor) StopQuietClock() { ex.guests.quiets.state.Store(clockNeeded) }

// AdmitCallers lets callers take part again that were kept away, because earlier ones have stayed too long.
func (ex *Executor) AdmitCallers() {
	ex.guests.late.Store(0)
	ex.guests.barred.Store(0)
}

// A Tempo is a tempo that tests ask.
type Tempo struct{ word xatomic.Uint64 }

func (t *Tempo) Next() bool                       { return tempo{&t.word}.next() }
func (t *Tempo) Note(d time.Duration, quiet bool) { tempo{&t.word}.note(int64(d), quiet) }

const (
	QuietSpan   = quietSpan
	FirstTrials = firstTrials
	Retrial     = retrial
)
