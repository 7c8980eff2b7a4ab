package executor

import "github.com/magpie-go/magpie/executor/internal/enum"

// WorkerState is what a worker does at the moment, as [Executor.Dump] and [Gauges] tell it. A state may be over when it
// is read. New states may be added.
type WorkerState uint8

// The states of a worker.
const (
	WorkerRunning    WorkerState = iota // it runs a task, or looks for work while its task waits
	WorkerSearching                     // it looks for work
	WorkerPreparing                     // it looks a last time before it sleeps
	WorkerParked                        // it sleeps: there is no work, or its task waits for other work
	WorkerBlocked                       // its task is in [Blocking]
	WorkerStandby                       // it is a spare that is not needed, and its thread is kept
	WorkerResting                       // it rests because of [Config.Share] or [Config.HostShare]
	WorkerThreadless                    // a spare that is not needed; any after Close
)

var workerStateNames = [...]string{
	"running", "searching", "preparing", "parked", "blocked", "standing by", "resting", "without a thread",
}

// WorkerStates lists every WorkerState.
func WorkerStates() []WorkerState { return enum.All(WorkerThreadless + 1) }

// String returns the state as [Executor.Dump] writes it: "running", "searching", "preparing", "parked", "blocked",
// "standing by", "resting" or "without a thread".
func (s WorkerState) String() string { return enum.Name(s, "WorkerState", workerStateNames[:]) }
