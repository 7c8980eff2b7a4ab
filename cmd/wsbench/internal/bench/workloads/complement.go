package workloads

import (
	"errors"

	"github.com/magpie-go/magpie/executor"
)

// complement is a job of experiment P2 of document 003. It has a phase that only one worker can use, and one that many
// can: the trees knary(n,4,4) and knary(n,5,0). Jobs A and B have them in opposite orders.
var complement = &Workload{
	Name: "complement",
	About: "a serial tree of n levels (knary -branching 4 -serial 4) and a parallel one (-branching 5 -serial 0); " +
		"-first says which comes first",
	Size:    "levels (the paper: 11)",
	Default: 9,
	Params:  []*Param{firstParam},
	Shape: func(n int) Shape {
		serial, parallel := knaryShape(n, serialPhase(n).branching), knaryShape(n, parallelPhase(n).branching)
		return Shape{Tasks: serial.Tasks + parallel.Tasks, Width: parallel.Width}
	},
	Program: func(n int, _ uint64, v Values) (Program, error) {
		job := knaryPair{serialPhase(n), parallelPhase(n)}
		if value[string](v, firstParam) == "parallel" {
			job.first, job.second = job.second, job.first
		}
		return &recursion[knaryPair]{
			arg: job, want: job.first.known() + job.second.known(),
			serial: func(p knaryPair) int64 { return knarySerial(p.first) + knarySerial(p.second) },
			goroutines: func(g *spawner, p knaryPair) int64 {
				return knaryGoroutines(g, p.first) + knaryGoroutines(g, p.second)
			},
			fork: func(s *executor.Scope, p knaryPair) int64 { return knaryFork(s, p.first) + knaryFork(s, p.second) },
		}, nil
	},
}

// A knaryPair has two trees, of which the second begins when the first is complete.
type knaryPair struct{ first, second knaryNode }

func serialPhase(levels int) knaryNode   { return knaryNode{levels, 4, 4} }
func parallelPhase(levels int) knaryNode { return knaryNode{levels, 5, 0} }

var firstParam = NewParam("first", "PHASE", "serial", "the first phase of complement: serial or parallel",
	func(s string) (string, error) {
		if s != "serial" && s != "parallel" {
			return "", errors.New("choose serial or parallel")
		}
		return s, nil
	})
