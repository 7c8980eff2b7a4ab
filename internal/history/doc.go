// Package history records what threads do to a work-stealing deque, or to a queue made of one, and judges it: is there an
// order of the calls, each at one moment between its beginning and its end, in which a list would have answered the same?
// That is linearizability; the search is porcupine's. Tests only.
//
// What is demanded of each answer:
//
//   - An item comes from the end it should: a Pop's is the newest, a Steal's the oldest. Of a queue, where any thread may
//     push, that is first in, first out.
//   - A Pop without an item, a Steal that was Empty and an IsEmpty that was true had no item in the list at their moment.
//   - A Steal that was Lost, or an IsEmpty that was false, had one. A queue has no exception. A deque has one, and it is
//     real: the owner's Pop lowers bottom before it knows whether it will get the last item, and others may call the deque
//     empty on the strength of it, which is true as soon as one counts the item as gone. Somebody who loaded top before
//     the item went, and bottom after the Pop put it back, sees an item once more. So an item was claimed at the top
//     during the call, and a Pop went on that did not take its item at the bottom.
//   - A Steal is Lost because of somebody: during the call an item was claimed at the top or the ring grew. One claim
//     explains one lost steal of each other thread.
//   - Len is not exact while others are at work. It lies between what is there if all calls that overlap it count
//     against it, and what is there if they count in its favour.
//
// Times come from one counter, which orders the events of all threads without doubt; a clock's readings may move across
// what they are to measure. The price is that the counter orders the threads for the race detector too: for that, see the
// stress tests.
package history
