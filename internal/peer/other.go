//go:build !linux || modelcheck

package peer

// Has returns ErrUnsupported.
func Has(Feature) error { return ErrUnsupported }

// A Thread is a worker's OS thread as its peers see it.
type Thread struct{}

// Enter returns ErrUnsupported.
func (*Thread) Enter() error { return ErrUnsupported }

// Leave does nothing.
func (*Thread) Leave() {}

// ID is 0.
func (*Thread) ID() int64 { return 0 }

// SharesCPU is false.
func (*Thread) SharesCPU(*Thread) bool { return false }

// Clock is not supported.
func (*Thread) Clock() (ns int64, ok bool) { return 0, false }

// Pull returns ErrUnsupported.
func (*Thread) Pull(*Thread) error { return ErrUnsupported }

// A Recorder keeps the kernel's switch records of a thread.
type Recorder struct{}

// Record returns ErrUnsupported.
func Record(int64) (*Recorder, error) { return nil, ErrUnsupported }

// State is Unknown.
func (*Recorder) State() State { return Unknown }

// Check asks, and counts the answer as unknown.
func (*Recorder) Check(c *Counts, ask func() (preempted bool)) bool {
	said := ask()
	c.judge(said, Unknown)
	return said
}

// Close does nothing.
func (*Recorder) Close() error { return nil }
