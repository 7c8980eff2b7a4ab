package host

import "github.com/magpie-go/magpie/executor/internal/enum"

// A Class is how Linux schedules the workers' threads beside other threads of the machine.
type Class uint8

const (
	// ClassNormal leaves the class as the process has it, which is SCHED_OTHER unless somebody has changed it.
	ClassNormal Class = iota
	// ClassBatch is SCHED_BATCH: a worker that wakes up does not interrupt another thread. It has the same share of a
	// core as in SCHED_OTHER.
	ClassBatch
	// ClassIdle is SCHED_IDLE: a worker has a core while no thread of another class wants it, which interrupts the
	// worker at once. Beside a thread that never sleeps a worker has about a 300th of the core. Nice makes no
	// difference then. It is for tasks that do not allocate: otherwise the garbage collector waits for workers that the
	// kernel does not run, as with a high Nice.
	ClassIdle

	classes // the number of values
)

var classNames = [classes]string{ClassNormal: "normal", ClassBatch: "batch", ClassIdle: "idle"}

// String returns the name of c: "normal", "batch" or "idle". A value that is none of the constants is written as
// Class(9).
func (c Class) String() string { return enum.Name(c, "Class", classNames[:]) }

// MarshalText returns the name of c. It implements [encoding.TextMarshaler].
func (c Class) MarshalText() ([]byte, error) { return enum.Text(c, "host", "Class", classNames[:]) }

// UnmarshalText sets c to the value of that name, for [flag.TextVar], JSON and the like. "" is ClassNormal. For any
// other name it returns an error that lists the names.
func (c *Class) UnmarshalText(name []byte) error {
	return enum.SetText(c, "host", "Class", name, classNames[:])
}
