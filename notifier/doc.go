// Package notifier has an EventCount: a condition variable for conditions that are checked without a mutex. A fixed set
// of threads, the waiters, sleeps until the condition may have changed.
//
//	waiter w                          notifier
//	  n.Prepare(w)                      make the condition true
//	  if condition { n.Cancel(w) }      n.Notify(1)
//	  else         { n.Commit(w) }
//
// The promise, in three events: E1, a waiter returns from Prepare; E2, it commits; E3, a thread notifies all. If E1
// comes before E3, then E2 returns. If E3 comes before E1, then after E1 the waiter sees all that the notifier did
// before E3. One of the two holds, so no wake-up is lost, as long as the waiter checks the condition between Prepare
// and Commit. [Notifier.Notify] wakes a given number of waiters that have prepared or prepare meanwhile. It is for
// waiters that all check the same condition.
//
// Each waiter sleeps on a parker of its own. Waiters are woken last in, first out: the last has the warmest caches.
//
// PROTOCOL.md beside this file has the protocol, its invariants, and the properties that are not guaranteed.
package notifier
