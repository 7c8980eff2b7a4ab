//go:build !modelcheck

package deque

// minCapacity is the smallest ring. Arbitrary; two slots would do.
const minCapacity = 8

// patience is how often who waits for an answer looks for it: about 2 µs. An owner that is busy with small items takes 0.3 µs
// to answer (BenchmarkPDQRSteal); for one with larger ones nobody should wait.
const patience = 5000
