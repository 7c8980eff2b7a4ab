package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/osthread"
)

// idle measures the processor time of the whole process and that of the workers' threads. The first includes the end of
// the probe's own sleep, which can take milliseconds on a virtual machine.
var idle = &Probe{
	Name:    "idle",
	About:   "an executor with nothing to do for n ms: the processor time used all the same",
	Size:    "milliseconds",
	Default: 5000,
	Measure: func(ctx context.Context, ex *executor.Executor, n int) ([]Metric, error) {
		// Workers that have just started are not idle yet. FreeOSMemory gives back at once the memory that the runtime
		// would otherwise give back little by little, using a hundredth of a core.
		debug.FreeOSMemory()
		if err := sleep(ctx, 200*time.Millisecond); err != nil {
			return nil, err
		}
		stats, before := ex.Stats(), workerThreads()
		cpu := osthread.ProcessCPU()
		if err := sleep(ctx, time.Duration(n)*time.Millisecond); err != nil {
			return nil, err
		}
		cpu = osthread.ProcessCPU() - cpu
		figures := []Metric{
			{"cpu-ns", float64(cpu.Nanoseconds())},
			{"wakeups", float64(ex.Stats().Sub(stats).Total.Wakeups)},
		}
		if len(before) > 0 {
			used := usedSince(before)
			figures = append(figures,
				Metric{"worker-cpu-ns", float64(used.cpu.Nanoseconds())},
				Metric{"worker-switches", float64(used.switches)})
		}
		return figures, nil
	},
}

var sleeper = &Probe{
	Name:    "sleeper",
	About:   "one task that sleeps n ms while the other workers have nothing to do: what they use meanwhile",
	Size:    "milliseconds",
	Default: 5000,
	Measure: func(ctx context.Context, ex *executor.Executor, n int) ([]Metric, error) {
		slept := false
		g := graph.New("sleeper")
		g.Task(func(ctx context.Context) error {
			slept = true
			return sleep(ctx, time.Duration(n)*time.Millisecond)
		})
		begin, cpu := time.Now(), osthread.ProcessCPU()
		if err := ex.Run(ctx, g); err != nil {
			return nil, err
		}
		wall := time.Since(begin)
		cpu = osthread.ProcessCPU() - cpu
		if !slept {
			return nil, fmt.Errorf("the task was not run")
		}
		return []Metric{{"cpu-percent", 100 * float64(cpu) / float64(wall)}}, nil
	},
}

// A threadUse is what a thread has used so far.
type threadUse struct {
	cpu      time.Duration
	switches int64 // how often it gave up its core, or lost it
}

// workerThreads finds the threads of an executor's workers by their names, and returns what each has used. It finds
// none where threads have no names.
func workerThreads() map[int64]threadUse {
	names, _ := filepath.Glob("/proc/self/task/*/comm")
	found := make(map[int64]threadUse)
	for _, file := range names {
		name, err := os.ReadFile(file)
		if err != nil || !strings.HasPrefix(string(name), threadName+"-") {
			continue
		}
		dir := filepath.Dir(file)
		id, err := strconv.ParseInt(filepath.Base(dir), 10, 64)
		if err != nil {
			continue
		}
		voluntary, involuntary, err := osthread.ThreadSwitches(id)
		if err != nil {
			continue
		}
		// The first figure is the time on a core in ns.
		stat, err := os.ReadFile(dir + "/schedstat")
		first, _, _ := strings.Cut(string(stat), " ")
		cpu, parseErr := strconv.ParseInt(first, 10, 64)
		if err != nil || parseErr != nil {
			continue
		}
		found[id] = threadUse{time.Duration(cpu), voluntary + involuntary}
	}
	return found
}

// usedSince returns what the same threads have used together since before.
func usedSince(before map[int64]threadUse) (sum threadUse) {
	for id, now := range workerThreads() {
		sum.cpu += now.cpu - before[id].cpu
		sum.switches += now.switches - before[id].switches
	}
	return sum
}
