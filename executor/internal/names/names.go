// Package names says how tasks, jobs and runs are called in profiles, traces, tables and logs.
package names

import (
	"strconv"

	"github.com/magpie-go/magpie/executor"
)

// Task returns the name of a task or, if it has none, its index in the job: "#7".
func Task(t *executor.TaskInfo) string {
	if t.Name != "" {
		return t.Name
	}
	return "#" + strconv.Itoa(t.Index)
}

// Job returns the name of a job, or "job" if name is "".
func Job(name string) string {
	if name == "" {
		return "job"
	}
	return name
}

// Run returns the name of a run if it is another than that of the job of its task, which is job, and "" otherwise. run
// is nil for an Async.
func Run(run *executor.Run, job string) string {
	if run == nil {
		return ""
	}
	if name := run.Name(); name != job {
		return name
	}
	return ""
}

// JobOf returns the name of a task's job, and "" if it has none or the task has no TaskSet.
func JobOf(t *executor.TaskInfo) string {
	if t.Set == nil {
		return ""
	}
	return t.Set.Job
}

// Full returns the name of a task with that of its job.
func Full(t *executor.TaskInfo) string { return Job(JobOf(t)) + " " + Task(t) }
