//go:build !modelcheck

package deque

// minCapacity is the smallest ring. Arbitrary; two slots would do.
const minCapacity = 8

// patience is how often who waits for an item looks whether it has come: about 3 µs. From owners that are busy with
// small items it comes in 0.3 µs (BenchmarkQueueSteal, BenchmarkPDQSReceive); for larger ones nobody should wait.
const patience = 10000
