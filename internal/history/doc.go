// Package history records the calls of threads on a work-stealing deque, or on a queue made of one, and judges them: is
// there an order of the calls, each at one moment between its beginning and its end, in which a list would have given
// the same answers? That property is linearizability; porcupine searches for the order. For tests only.
//
// The rules for the answers:
//
//   - An item comes from the right end: a Pop's is the newest, a Steal's the oldest. A queue, where any thread may
//     push, is first in, first out.
//   - For a Pop without an item, a Steal that was Empty and an IsEmpty that was true, the list had no item at the
//     moment of the call.
//   - For a Steal that was Lost, or an IsEmpty that was false, the list had an item. A queue has no exception. A deque
//     has a real one. The owner's Pop lowers bottom before it knows whether it will get the last item. Meanwhile other
//     threads may call the deque empty, which is true as soon as the item counts as gone. A thread that loaded top
//     before the item went, and bottom after the Pop put it back, sees the item once more. So the exception requires
//     that during the call an item was claimed at the top, and a Pop was in progress that did not take its item at the
//     bottom.
//   - For a Steal that was Lost there is a cause: during the call an item was claimed at the top or the ring grew. One
//     claim explains one lost steal of each other thread.
//   - Len is not exact while other threads are at work. It lies between two lengths: in the lower, all calls that
//     overlap it count against it; in the upper, they count in its favour.
//
// Times come from one counter, which orders the events of all threads without doubt; readings of a clock may move
// across the events that they time. The price is that the counter orders the threads for the race detector too: the
// stress tests have none.
package history
