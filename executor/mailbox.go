package executor

import (
	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// A letter is an item that one worker is to run and no other. It is claimed once: by its worker, which then runs it, or
// by the thread that withdraws it.
type letter struct {
	Item    // first: see letterOf
	next    *letter
	claimed xatomic.Uint32
}

// claim reports whether the caller is the one that has claimed l (C).
func (l *letter) claim(ex *core) bool {
	if l.claimed.Load() != 0 || !l.claimed.CompareAndSwap(0, 1) {
		return false
	}
	ex.letters.Add(-1)
	return true
}

// A mailbox holds the letters of a worker. The worker looks for letters when it becomes or is a thief, before it
// sleeps, after every pollInterval items, and when it finds nothing to do in a wait.
type mailbox struct {
	posted xatomic.Pointer[letter] // newest first; any thread pushes, the worker takes all at once
	dozes  xatomic.Bool            // the worker, a thief, has announced that it will sleep; it writes this

	// Owner only, plain.
	oldest *letter // taken out of posted, oldest first
	ready  *Item   // of a claimed letter that a thief has found, for loop
}

// post puts l into the box of worker w, and wakes the worker if it sleeps. The caller calls wakeForLetters after it has
// posted all letters of a broadcast. Any thread.
func (w *Worker) post(l *letter) {
	w.mail.push(l)
	// D5(post): post, then unpark. A worker that has looked before the letter was posted and parks in a wait does not
	// sleep: the parker remembers.
	w.sleeper.wake(w)
}

func (b *mailbox) push(l *letter) {
	for {
		l.next = b.posted.Load()
		if b.posted.CompareAndSwap(l.next, l) {
			return
		}
	}
}

// putBack makes letters that the owner has taken out, and not claimed, visible to passMailOn. Those that came meanwhile
// are then read first. Owner only.
func (b *mailbox) putBack() {
	for b.oldest != nil {
		l := b.oldest
		b.oldest = l.next
		b.push(l)
	}
}

// isEmpty reports whether there is no letter. Owner only.
func (b *mailbox) isEmpty() bool { return b.oldest == nil && b.posted.Load() == nil }

// take returns the item of the oldest letter that was not withdrawn, or nil. The worker has to run it. Owner only.
func (b *mailbox) take(ex *core) *Item {
	for !b.isEmpty() {
		if b.oldest == nil {
			for l := b.posted.Swap(nil); l != nil; {
				next := l.next
				l.next, b.oldest = b.oldest, l
				l = next
			}
		}
		l := b.oldest
		b.oldest, l.next = l.next, nil
		if l.claim(ex) {
			return &l.Item
		}
	}
	return nil
}

// wakeForLetters wakes the thieves that sleep, and the workers that rest without work. They look at their boxes. Any
// thread.
//
// It need not wake each of them: a waiter that has prepared later, or prepares again, may take a wake-up that was meant
// for another, see notifier.Commit. Whichever worker has taken one passes it on, see passMailOn.
func (ex *Executor) wakeForLetters() {
	// D5(wake): the letters are posted; now look for waiters. Pairs with D5(prepare) and D5(rest).
	if ex.notifier.Waiting() {
		ex.policy.WakeAll()
	}
	if s := ex.sharing; s != nil {
		s.control.Recall()
	}
}

// checkMail is called by a thief after it has announced that it will sleep, or rest. If there is a letter the worker is
// woken with all others, so that the policy counts it as one that was woken.
func (w *Worker) checkMail() {
	if w.core.letters.Load() != 0 && !w.mail.isEmpty() {
		w.ex.wakeForLetters()
	}
}

// passMailOn is called by a worker that was woken, or has withdrawn its announcement, and by a guest that has taken a
// worker's wake-up back. If a worker that sleeps has a letter, the wake-up may have been meant for it.
//
// L2: a worker with a letter that dozes has been given a wake-up, or is about to be. Either the worker has it itself,
// or the one that has taken it comes here afterwards, and sees the letter.
func (w *Worker) passMailOn() {
	if w.core.letters.Load() == 0 {
		return
	}
	for _, v := range w.core.roster[:w.core.cfg.Workers] {
		if v != w && v.mail.dozes.Load() && v.mail.posted.Load() != nil {
			w.ex.wakeForLetters()
			// The other may have prepared and have lost its core: without the yield this worker could take the same
			// wake-up again and again.
			osthread.Yield()
			return
		}
	}
}

// takeMail looks for a letter on behalf of a thief. If there is one it is in mail.ready afterwards, and the worker
// ceases to be a thief.
func (w *Worker) takeMail() bool {
	if w.mail.isEmpty() {
		return false
	}
	w.mail.ready = w.mail.take(w.core)
	return w.mail.ready != nil
}

// readMail runs the item that takeMail has found, and reports whether there was one.
func (w *Worker) readMail() bool {
	it := w.mail.ready
	if it == nil {
		return false
	}
	w.mail.ready = nil
	w.work(it, false)
	return true
}

// preferMail returns the item of a letter for a busy worker to run in place of it, the next item, whose body it has
// entered. It puts it into the injector, as for a newcomer, see checkpoint. It returns nil if there is no letter.
func (w *Worker) preferMail(it *Item) *Item {
	if w.mail.isEmpty() {
		return nil
	}
	next := w.mail.take(w.core)
	if next == nil {
		return nil
	}
	w.body.hooks.Flush(w)
	w.ex.inject(it)
	w.enter(next.Body)
	return next
}

// runMail runs one letter on top of the task that waits, and reports whether there was one. The worker has exposed its
// forks.
func (w *Worker) runMail() bool {
	if w.mail.isEmpty() {
		return false
	}
	it := w.mail.take(w.core)
	if it == nil {
		return false
	}
	w.runWithin(it.Body.owner(), nil, it)
	return true
}
