package joins

import "github.com/magpie-go/magpie/executor"

func fn(*executor.Scope, int) int { return 0 }

func uses(s *executor.Scope) int {
	executor.Fork(s, fn, 1)       // want `nobody joins this Fork`
	_ = executor.Fork(s, fn, 1)   // want `nobody joins this Fork`
	go executor.Fork(s, fn, 1)    // want `nobody joins this Fork`
	defer executor.Fork(s, fn, 1) // want `nobody joins this Fork`
	f := executor.Fork(s, fn, 2)
	return f.Join(s) + executor.Fork(s, fn, 3).Join(s)
}
