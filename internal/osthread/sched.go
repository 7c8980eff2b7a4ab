package osthread

// A Class is how the kernel's scheduler treats a thread beside others.
type Class uint8

const (
	// Normal is that of threads for which nothing else is asked.
	Normal Class = iota
	// Batch is as Normal, but a thread that wakes up does not interrupt others.
	Batch
	// Idle threads have a core only while hardly any other thread is ready, and others interrupt them at once.
	Idle
)
