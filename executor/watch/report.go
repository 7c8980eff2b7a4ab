package watch

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/internal/names"
)

// A report is something to log.
type report struct {
	kind      kind
	at, since time.Time
	stats     executor.Stats
	worker    int       // of a long task
	running   running   // the same; without a task if that is unknown
	tasks     []running // of a stall, or that wait outside Blocking, by worker ID; nil if unknown
	stacks    []string  // of the workers concerned
}

type kind int

const (
	stall kind = iota
	stallOver
	longTask
	longTaskOver
	silent
)

// messages are what is logged. They are constant, so that a program can look for them.
var messages = [...]string{
	stall:        "executor makes no progress",
	stallOver:    "executor makes progress again",
	longTask:     "task runs for long",
	longTaskOver: "long task has ended",
	silent:       "tasks wait outside Blocking",
}

// maxText bounds the text of stacks in a report. Arbitrary: a log line of that length is still read.
const maxText = 64 << 10

// log writes the report of ex to logger, or to the default logger if that is nil.
func (r *report) log(logger *slog.Logger, ex *executor.Executor) {
	if logger == nil {
		logger = slog.Default()
	}
	defer contain(ex, logger)
	level := slog.LevelWarn
	attrs := []slog.Attr{slog.String("executor", ex.Name()), slog.Duration("for", r.at.Sub(r.since))}
	switch r.kind {
	case stall:
		g := r.stats.Gauges
		attrs = append(attrs, slog.Int("queued", g.Pending()), slog.Int("runs", g.Runs), slog.Int("futures", g.Futures),
			slog.Int("active", g.Active), slog.Int("waiting", g.Waiting), slog.Int("blocked", g.Blocked))
		if r.tasks != nil {
			attrs = append(attrs, slog.String("tasks", workersTasks(r.tasks)))
		}
		attrs = append(attrs, r.details(ex)...)
	case longTask:
		attrs = append(append(attrs, r.who()...), r.details(ex)...)
	case longTaskOver:
		level = slog.LevelInfo
		attrs = append(attrs, r.who()...)
	case silent:
		level = slog.LevelInfo
		attrs = []slog.Attr{attrs[0], slog.Uint64("times", r.stats.SilentBlocks)}
		if r.tasks != nil {
			attrs = append(attrs, slog.String("tasks", workersTasks(r.tasks)))
		}
	default:
		level = slog.LevelInfo
	}
	logger.LogAttrs(context.Background(), level, messages[r.kind], attrs...)
}

// contain is deferred around calls of a logger's handler, whose panic must not end the process. It tells the panic to
// the logger and, if that panics again, to the default one.
func contain(ex *executor.Executor, logger *slog.Logger) {
	v := recover()
	if v != nil && !tellPanic(logger, ex, v) {
		tellPanic(slog.Default(), ex, v)
	}
}

// tellPanic reports whether the logger has taken the panic v of a report.
func tellPanic(logger *slog.Logger, ex *executor.Executor, v any) (told bool) {
	defer func() { _ = recover() }()
	logger.Error("watch: a report panicked", "executor", ex.Name(), "panic", fmt.Sprint(v))
	return true
}

// who tells the task.
func (r *report) who() []slog.Attr {
	attrs := []slog.Attr{slog.Int("worker", r.worker)}
	if task := r.running.task; task != nil {
		attrs = append(attrs, slog.String("job", names.Job(names.JobOf(task))),
			slog.String("task", names.Task(task)), slog.Int("index", task.Index))
		if run := names.Run(r.running.run, names.JobOf(task)); run != "" {
			attrs = append(attrs, slog.String("run", run))
		}
	}
	return attrs
}

// workersTasks is a list such as "worker 0: build link, worker 2: build #7 (run nightly)" of the workers that have a
// task.
func workersTasks(all []running) string {
	var list []string
	for worker, r := range all {
		if r.task != nil {
			text := fmt.Sprintf("worker %d: %s", worker, names.Full(r.task))
			if run := names.Run(r.run, names.JobOf(r.task)); run != "" {
				text += fmt.Sprintf(" (run %s)", run)
			}
			list = append(list, text)
		}
	}
	return strings.Join(list, ", ")
}

// details are the stacks and the dump.
func (r *report) details(ex *executor.Executor) []slog.Attr {
	var dump strings.Builder
	_ = ex.Dump(&dump) // a Builder takes everything
	stacks := strings.Join(r.stacks, "\n")
	if len(stacks) > maxText {
		stacks = stacks[:maxText] + "…"
	}
	return []slog.Attr{slog.String("stacks", strings.TrimSpace(stacks)), slog.String("dump", dump.String())}
}
