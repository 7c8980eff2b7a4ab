package experiment_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
)

// A comparison of two policies. The options come from a file.
func ExampleOptions() {
	file := `[{"Policy": "abp", "Yields": "never"}, {"Policy": "mbws", "Deque": "padws", "Forks": "pushed"}]`
	var settings []experiment.Options
	if err := json.Unmarshal([]byte(file), &settings); err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range settings {
		ex, err := executor.New(executor.Config{Workers: 2, Experiment: s})
		if err != nil {
			fmt.Println(err)
			return
		}
		err = ex.Run(context.Background(), executor.NewJob("work", func(*executor.Scope) error { return nil }))
		fmt.Println(s.Policy, s.Deque, err)
		_ = ex.Close()
	}
	// Output:
	// abp chaselev <nil>
	// mbws padws <nil>
}

// New tells a wrong name, and what there is.
func ExampleForks() {
	fmt.Println(experiment.Forks())
	_, err := executor.New(executor.Config{Experiment: experiment.Options{Forks: "split"}})
	fmt.Println(err)
	// Output:
	// [private pushed]
	// executor: Config.Experiment.Forks is "split": use one of [private pushed]
}
