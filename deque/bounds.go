//go:build !modelcheck

package deque

// minCapacity is the smallest ring. Arbitrary; two slots would do.
const minCapacity = 8

// patience is how often a thread that waits for an item looks for it: about 3 µs. An owner that is busy with small
// items sends it in 0.3 µs (BenchmarkQueueSteal, BenchmarkPDQSReceive); with larger items waiting does not pay.
const patience = 10000
