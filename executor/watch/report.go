package watch

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/magpie-go/magpie/executor"
)

// A report is something to log.
type report struct {
	kind      kind
	at, since time.Time
	stats     executor.Stats
	worker    int            // of a long task
	task      *executor.Task // the same; nil if unknown
	stacks    []string       // of the workers concerned
}

type kind int

const (
	stall kind = iota
	stallOver
	longTask
	longTaskOver
)

// messages are what is logged. They are constant, so that a program can look for them.
var messages = [...]string{
	stall:        "executor makes no progress",
	stallOver:    "executor makes progress again",
	longTask:     "task runs for long",
	longTaskOver: "long task has ended",
}

// maxText bounds the text of stacks in a report. Arbitrary: a log line of that length is still read.
const maxText = 64 << 10

// log writes the report of ex to logger, or to the default logger if that is nil.
func (r *report) log(logger *slog.Logger, ex *executor.Executor) {
	if logger == nil {
		logger = slog.Default()
	}
	level := slog.LevelWarn
	attrs := []slog.Attr{slog.String("executor", ex.Name()), slog.Duration("for", r.at.Sub(r.since))}
	switch r.kind {
	case stall:
		g := r.stats.Gauges
		attrs = append(attrs, slog.Int("queued", g.Pending()), slog.Int("runs", g.Runs), slog.Int("futures", g.Futures),
			slog.Int("active", r.stats.Active), slog.Int("waiting", g.Waiting), slog.Int("blocked", g.Blocked))
		attrs = append(attrs, r.details(ex)...)
	case longTask:
		attrs = append(append(attrs, r.who()...), r.details(ex)...)
	case longTaskOver:
		level = slog.LevelInfo
		attrs = append(attrs, r.who()...)
	default:
		level = slog.LevelInfo
	}
	defer contain(ex)
	logger.LogAttrs(context.Background(), level, messages[r.kind], attrs...)
}

// contain is deferred around a call of a logger's handler, whose panic must not end the process.
func contain(ex *executor.Executor) {
	v := recover()
	if v == nil {
		return
	}
	defer func() { _ = recover() }() // the default logger may be the one that panics
	slog.Error("watch: the handler of the logger panicked", "executor", ex.Name(), "panic", fmt.Sprint(v))
}

// who tells the task.
func (r *report) who() []slog.Attr {
	attrs := []slog.Attr{slog.Int("worker", r.worker)}
	if r.task != nil {
		if r.task.Set != nil {
			attrs = append(attrs, slog.String("job", r.task.Set.Job))
		}
		attrs = append(attrs, slog.String("task", r.task.Name), slog.Int("index", r.task.Index))
	}
	return attrs
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
