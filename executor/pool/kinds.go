package pool

import (
	"fmt"

	"github.com/magpie-go/magpie/executor/internal/enum"
)

// A Queue is the way in which the tasks of a run that have not begun are kept.
type Queue uint8

const (
	// Centralised is one queue for all workers, first in first out. It balances any load, and is right for tasks of
	// microseconds or more. Each task takes the lock that all workers share.
	Centralised Queue = iota
	// PerThread is a queue for each worker, dealt in turn before the first task begins. Without stealing it is right
	// for tasks that take the same time, and a task takes no lock and no atomic operation. With stealing it is for
	// tasks that differ, and a task takes a lock that is free unless a thief has it.
	PerThread
	// PerThreadFIFO is PerThread whose workers take the oldest task of their own queue, and the newest of others.
	// Document 001 does not say which: of its tasks, each longer than the one before, thieves find none that saves time
	// if owners begin with the shortest, and some if they begin with the longest.
	PerThreadFIFO
	// ByPriority is one heap for all workers. It is for tasks of different priority, above all to find a result early.
	// Each task takes the lock that all workers share, for a time that grows with the logarithm of the tasks left.
	ByPriority
)

// queues has a row for each Queue.
var queues = []struct {
	name, about string
	steals      bool // it may be combined with stealing
	make        func(s *run) queue
}{
	Centralised: {"centralised", "one locked queue for all workers, first in first out", false, newCentralised},
	PerThread: {"perthread", "a queue for each worker, dealt in turn before the run; with locks only if others steal",
		true, newPerThread},
	PerThreadFIFO: {"perthread-fifo", "perthread, but a worker takes the oldest of its queue, and the newest of others",
		true, newPerThreadFIFO},
	ByPriority: {"priority", "one locked heap for all workers: the largest priority first, then the oldest", false,
		newByPriority},
}

// String returns the name of q. A value that is none of the constants is written as Queue(9).
func (q Queue) String() string {
	if int(q) >= len(queues) {
		return fmt.Sprintf("Queue(%d)", uint8(q))
	}
	return queues[q].name
}

// About describes the queue in one line.
func (q Queue) About() string {
	if int(q) >= len(queues) {
		return ""
	}
	return queues[q].about
}

// Steals reports whether the queue may be combined with stealing.
func (q Queue) Steals() bool { return int(q) < len(queues) && queues[q].steals }

// Queues lists every queue.
func Queues() []Queue { return list[Queue](len(queues)) }

// MarshalText returns the name of q. It implements [encoding.TextMarshaler].
func (q Queue) MarshalText() ([]byte, error) { return enum.Text(q, "pool", "Queue", names(Queues())) }

// UnmarshalText sets q to the value of that name, for [flag.TextVar], JSON and the like. "" is Centralised. For any
// other name it returns an error that lists the names.
func (q *Queue) UnmarshalText(name []byte) error {
	return enum.SetText(q, "pool", "Queue", name, names(Queues()))
}

// Stealing says what a worker whose queue is empty takes from the queues of others: from which of them, and how many of
// its tasks. Stolen tasks go to the queue of the thief.
type Stealing uint8

const (
	NoStealing    Stealing = iota // nothing
	NeighbourOne                  // one task of the next queue that is not empty
	NeighbourHalf                 // half of its tasks, rounded up
	NeighbourAll                  // all of its tasks
	RandomOne                     // one task of a queue chosen at random among those that are not empty
	RandomHalf                    // half of its tasks, rounded up
	RandomAll                     // all of its tasks
)

// stealings has a row for each Stealing.
var stealings = []struct {
	name, about string
	victim      func(q *stolen, d *drainer) (index int) // a queue that is not empty, or -1 if all are empty
	amount      func(n int) int                         // of n tasks, n > 0
}{
	NoStealing:    {"off", "a worker runs the tasks of its own queue only", nil, nil},
	NeighbourOne:  {"neighbour+one", "take one task of the next queue that is not empty", neighbour, one},
	NeighbourHalf: {"neighbour+half", "take half of the next queue that is not empty, rounded up", neighbour, half},
	NeighbourAll:  {"neighbour+all", "take all of the next queue that is not empty", neighbour, whole},
	RandomOne:     {"random+one", "take one task of a random queue that is not empty", random, one},
	RandomHalf:    {"random+half", "take half of a random queue that is not empty, rounded up", random, half},
	RandomAll:     {"random+all", "take all of a random queue that is not empty", random, whole},
}

// String returns the name of s. A value that is none of the constants is written as Stealing(9).
func (s Stealing) String() string {
	if int(s) >= len(stealings) {
		return fmt.Sprintf("Stealing(%d)", uint8(s))
	}
	return stealings[s].name
}

// About describes the way to steal in one line.
func (s Stealing) About() string {
	if int(s) >= len(stealings) {
		return ""
	}
	return stealings[s].about
}

// Stealings lists every way to steal, NoStealing first.
func Stealings() []Stealing { return list[Stealing](len(stealings)) }

// MarshalText returns the name of s. It implements [encoding.TextMarshaler].
func (s Stealing) MarshalText() ([]byte, error) {
	return enum.Text(s, "pool", "Stealing", names(Stealings()))
}

// UnmarshalText sets s to the value of that name, for [flag.TextVar], JSON and the like. "" is NoStealing. For any
// other name it returns an error that lists the names.
func (s *Stealing) UnmarshalText(name []byte) error {
	return enum.SetText(s, "pool", "Stealing", name, names(Stealings()))
}

// Idle says what a drainer does when no task is left for it and tasks of other drainers are still running.
type Idle uint8

const (
	// Leave ends the drainer. No task can come any more, and the executor's policy decides what its worker does.
	Leave Idle = iota
	// Spin looks at the queues again and again until all tasks have ended, without yielding: the busy-waiting of
	// document 001. It costs the whole time of a core for each idle worker, and the cache lines and locks of the queues
	// at which these look. Now and then the drainer goes to the end of the executor's queue, so that a drainer without
	// a worker comes to run.
	Spin
)

var idles = []struct{ name, about string }{
	Leave: {"leave", "a worker without a task leaves the run"},
	Spin:  {"spin", "a worker without a task looks again and again until all tasks have ended: a busy core each"},
}

// String returns the name of i. A value that is none of the constants is written as Idle(9).
func (i Idle) String() string {
	if int(i) >= len(idles) {
		return fmt.Sprintf("Idle(%d)", uint8(i))
	}
	return idles[i].name
}

// About describes the way to be idle in one line.
func (i Idle) About() string {
	if int(i) >= len(idles) {
		return ""
	}
	return idles[i].about
}

// Idles lists every way to be idle.
func Idles() []Idle { return list[Idle](len(idles)) }

// MarshalText returns the name of i. It implements [encoding.TextMarshaler].
func (i Idle) MarshalText() ([]byte, error) { return enum.Text(i, "pool", "Idle", names(Idles())) }

// UnmarshalText sets i to the value of that name, for [flag.TextVar], JSON and the like. "" is Leave. For any
// other name it returns an error that lists the names.
func (i *Idle) UnmarshalText(name []byte) error {
	return enum.SetText(i, "pool", "Idle", name, names(Idles()))
}

// kind is a small enumeration.
type kind interface {
	~uint8
	fmt.Stringer
}

func list[K kind](n int) []K {
	all := make([]K, n)
	for i := range all {
		all[i] = K(i)
	}
	return all
}

func names[K kind](all []K) []string {
	texts := make([]string, len(all))
	for i, k := range all {
		texts[i] = k.String()
	}
	return texts
}
