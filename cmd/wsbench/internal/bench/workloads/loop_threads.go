package workloads

import (
	"fmt"

	threads "github.com/magpie-go/magpie/cmd/wsbench/internal/spin"
	"github.com/magpie-go/magpie/executor"
)

// threadLoop is LOOP of document 004: plain threads that compute until the main thread tells them to end, here when
// they have made their rounds. It stands for the programs beside ours that no work stealing runs. On every engine the
// threads are its own; an executor is idle meanwhile.
var threadLoop = &Workload{
	Name:    "loop",
	About:   "as many plain threads as workers, of no engine, that compute until told to, after 1000·n rounds together",
	Size:    "thousand rounds, of a microsecond each",
	Default: 500,
	Small:   1,
	Shape:   func(n int) Shape { return Shape{Tasks: 1000 * float64(n), Width: 1} },
	Program: func(n int, _ uint64, _ Values) (Program, error) { return &loopProgram{rounds: 1000 * uint64(n)}, nil },
}

type loopProgram struct {
	rounds uint64
	made   uint64
}

func (l *loopProgram) Serial() { l.Goroutines(1) }

func (l *loopProgram) Goroutines(workers int) { l.made = threads.RunRounds(workers, l.rounds).Rounds }

func (l *loopProgram) Magpie(ex *executor.Executor) error {
	l.Goroutines(ex.Workers())
	return nil
}

func (l *loopProgram) Reset() { l.made = 0 }

func (l *loopProgram) Verify() error {
	if l.made < l.rounds {
		return fmt.Errorf("the threads made %d rounds of %d", l.made, l.rounds)
	}
	return nil
}
