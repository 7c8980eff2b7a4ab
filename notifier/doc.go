// Package notifier lets a fixed set of threads sleep until something may have changed, without a lock around what that
// something is.
//
// It is an EventCount: a condition variable for conditions that are checked without a mutex.
//
//	waiter w                          notifier
//	  n.Prepare(w)                      make the condition true
//	  if condition { n.Cancel(w) }      n.Notify(1)
//	  else         { n.Commit(w) }
//
// The promise, in three events: E1, a waiter returns from Prepare; E2, it commits; E3, a thread notifies all. If E1
// comes before E3, then E2 returns. If E3 comes before E1, then what the notifier did before E3 is seen by the waiter
// after E1. One of the two holds, so no wake-up is lost: checking the condition between Prepare and Commit is what
// turns the promise into one. [Notifier.Notify] wakes as many waiters as it is told, of those that had prepared or that
// prepare meanwhile: it is for waiters that all look at the same condition.
//
// Waiters sleep each on a parker of their own and are woken last in, first out: the one whose caches are warmest.
package notifier
