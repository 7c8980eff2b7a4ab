package executor

import (
	"github.com/magpie-go/magpie/executor/internal/enum"
	"github.com/magpie-go/magpie/internal/osthread"
)

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

// String returns the name that [ParseClass] takes. A value that is none of the constants is written as Class(9).
func (c Class) String() string { return enum.Name(c, "Class", classNames[:]) }

// Classes lists every Class.
func Classes() []Class { return enum.All[Class](classes) }

// ParseClass returns the Class of that name: "normal", "batch" or "idle". For any other name it returns an error
// that lists these.
func ParseClass(name string) (Class, error) { return enum.Parse[Class](name, "class", classNames[:]) }

var systemClasses = [classes]osthread.Class{
	ClassNormal: osthread.Normal, ClassBatch: osthread.Batch, ClassIdle: osthread.Idle,
}

// A Pin says on which of the CPUs a worker's thread may run.
type Pin uint8

const (
	// PinNone lets each worker run on all of them.
	PinNone Pin = iota
	// PinOneEach gives each worker one of them. Workers have different cores as long as there are cores without one,
	// then the further CPUs of these cores, as simultaneous multithreading has them. Further workers begin again with
	// the first CPU. A spare worker may run on all of the CPUs, as it stands in for any worker.
	PinOneEach

	pins // the number of values
)

var pinNames = [pins]string{PinNone: "none", PinOneEach: "one-each"}

// String returns the name that [ParsePin] takes. A value that is none of the constants is written as Pin(9).
func (p Pin) String() string { return enum.Name(p, "Pin", pinNames[:]) }

// Pins lists every Pin.
func Pins() []Pin { return enum.All[Pin](pins) }

// ParsePin returns the Pin of that name: "none" or "one-each". For any other name it returns an error that lists
// these.
func ParsePin(name string) (Pin, error) { return enum.Parse[Pin](name, "way to pin", pinNames[:]) }
