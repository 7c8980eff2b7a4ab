package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/input"
	"github.com/magpie-go/magpie/internal/gat"
)

// runShare is wsbench share. An interrupt is a usual end of it, and no error.
func (t *tool) runShare(ctx context.Context, args []string) error {
	fs := newFlags("share")
	path := fs.String("path", gat.Path(), "")
	every := fs.Duration("every", time.Second, "")
	format := fs.String("format", "text", "")
	others, err := parse(fs, args)
	switch {
	case err != nil:
		return err
	case len(others) > 0:
		return input.Errorf("share takes no arguments, got %q: -path names the file", others[0])
	case *path == "":
		return input.Errorf("-path needs the name of a file")
	case *every <= 0:
		return input.Errorf("-every must be more than 0, not %v", *every)
	}
	if err := bench.CheckFormat(*format, []string{"text", "json"}); err != nil {
		return err
	}
	onScreen := *format == "text" && isScreen(t.stdout)
	v := viewer{t.stdout, *path, *format == "json", onScreen}
	if !onScreen && !isSet(fs, "every") {
		_, err := v.show()
		return err
	}
	return v.watch(ctx, *every)
}

// isScreen reports whether a stream is a terminal.
func isScreen(stream any) bool {
	if !isTerminal(stream) {
		return false
	}
	this, err := stream.(*os.File).Stat()
	if err != nil {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(this, null)
}

// A viewer shows the table at path.
type viewer struct {
	w              io.Writer
	path           string
	json, onScreen bool
}

const (
	// screenBegin keeps lines from being wrapped, and clears the screen. screenEnd undoes the former.
	screenBegin = "\x1b[?7l\x1b[2J"
	screenEnd   = "\x1b[?7h"
	// Each picture is drawn over the one before, line by line: it does not flicker.
	screenHome      = "\x1b[H"
	screenLineEnd   = "\x1b[K\n"
	screenClearRest = "\x1b[J"
)

// watch shows the table again and again, until ctx ends or there is no table.
func (v *viewer) watch(ctx context.Context, every time.Duration) error {
	if v.onScreen {
		if _, err := io.WriteString(v.w, screenBegin); err != nil {
			return err
		}
		defer func() { _, _ = io.WriteString(v.w, screenEnd) }()
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		if found, err := v.show(); !found || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// show shows the table once. It reports whether there is one.
func (v *viewer) show() (found bool, err error) {
	s, err := gat.Read(v.path)
	found = err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, input.Errorf("%s", strings.TrimPrefix(err.Error(), "gat: "))
	}
	if v.json {
		return found, json.NewEncoder(v.w).Encode(newTableView(v.path, found, s))
	}
	text := fmt.Sprintf("%s: no table: nothing that shares processors there has run since the machine booted\n", v.path)
	if found {
		text = tableText(v.path, s)
	}
	if v.onScreen {
		text = screenHome + strings.ReplaceAll(text, "\n", screenLineEnd) + screenClearRest
	}
	_, err = io.WriteString(v.w, text)
	return found, err
}

// tableText returns the table for people.
func tableText(path string, s gat.Snapshot) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, cycle %v, %s, %d of %d allotted\n", path, count(s.Processors, "processor"), s.Cycle,
		count(len(s.Jobs), "job"), allotted(s), s.Processors)
	if isCrowded(s) {
		b.WriteString("More jobs want processors than there are: each has one, and together they have more than there are.\n")
	}
	if len(s.Jobs) == 0 {
		return b.String()
	}
	width := len("name")
	for _, j := range s.Jobs {
		width = max(width, utf8.RuneCountInString(j.Name))
	}
	fmt.Fprintf(&b, "\nslot      pid  %-*s  desire  allotted  usage  efficiency  weight  minimum  maximum  state\n",
		width, "name")
	for _, j := range s.Jobs {
		maximum := "-"
		if j.Limit > 0 {
			maximum = strconv.Itoa(j.Limit)
		}
		fmt.Fprintf(&b, "%4d  %7d  %-*s  %6d  %8d  %5d  %9.1f%%  %6d  %7d  %7s  %s\n", j.Slot, j.PID, width, j.Name,
			j.Desire, j.Allotment, j.Usage, float64(j.Efficiency)/10, j.Weight, j.Minimum, maximum, stateOf(j))
	}
	return b.String()
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func allotted(s gat.Snapshot) (sum int) {
	for _, j := range s.Jobs {
		sum += j.Allotment
	}
	return sum
}

// isCrowded reports whether the processors do not suffice for one per job.
func isCrowded(s gat.Snapshot) bool {
	present := 0
	for _, j := range s.Jobs {
		present += min(j.Allotment, 1)
	}
	return present > s.Processors && present == allotted(s)
}

// stateOf returns what a job does.
func stateOf(j gat.JobState) string {
	switch {
	case !j.Alive:
		return "dead"
	case j.Desire == 0:
		return "idle"
	case j.Stopped:
		return "stopped"
	default:
		return "running"
	}
}

// A tableView is a table in format json. The field names are part of the command line's interface.
type tableView struct {
	Path       string    `json:"path"`
	Found      bool      `json:"found"` // without a table all that follows is 0 and empty
	Processors int       `json:"processors"`
	CycleNS    int64     `json:"cycle_ns"`
	Generation uint64    `json:"generation"` // how often allotments have changed
	Allotted   int       `json:"allotted"`   // more than Processors only if more jobs than processors want any
	Jobs       []jobView `json:"jobs"`
}

type jobView struct {
	Slot        int     `json:"slot"`
	PID         int     `json:"pid"`
	Name        string  `json:"name"`
	Desire      int     `json:"desire"`
	Allotment   int     `json:"allotment"`
	Usage       int     `json:"usage"`
	Efficiency  float64 `json:"efficiency"` // from 0 to 1
	Weight      int     `json:"weight"`
	Minimum     int     `json:"minimum"`
	Maximum     int     `json:"maximum"` // 0: none
	HeartbeatNS int64   `json:"heartbeat_ns"`
	State       string  `json:"state"`
}

func newTableView(path string, found bool, s gat.Snapshot) tableView {
	v := tableView{
		Path: path, Found: found, Processors: s.Processors, CycleNS: s.Cycle.Nanoseconds(), Generation: s.Generation,
		Allotted: allotted(s), Jobs: []jobView{},
	}
	for _, j := range s.Jobs {
		v.Jobs = append(v.Jobs, jobView{
			Slot: j.Slot, PID: j.PID, Name: j.Name, Desire: j.Desire, Allotment: j.Allotment, Usage: j.Usage,
			Efficiency: float64(j.Efficiency) / 1000, Weight: j.Weight, Minimum: j.Minimum, Maximum: j.Limit,
			HeartbeatNS: j.Heartbeat.Nanoseconds(), State: stateOf(j),
		})
	}
	return v
}

func shareHelp(*tool) string {
	return fmt.Sprintf(`Usage: wsbench share [flags]

Shows how the executors that share this machine, those with a Config.Host.Share, divide its
processors. It joins nothing and changes nothing. At a terminal it shows the table again
every second, until Ctrl-C. Elsewhere it writes the table once. Without a table it says so,
and the exit status is 0.

  -path FILE      the table (default that of executors without a Path, here
                  %s)
  -every TIME     show the table again and again, at intervals of TIME, as 200ms, wherever
                  the output goes (at a terminal: default 1s)
  -format FORMAT  text or json, one object on a line, each time (default text)

Above the table: the processors that are shared, the time between two estimates of what a job
can use, the number of jobs, and how many processors they are allotted together.
  desire          processors that the job can use without much waste, by its own estimate
  allotted        processors that it may use
  usage           workers that were awake on average during its last cycle
  efficiency      the part of its attempts to steal whose victims were not stealing themselves
  weight, minimum, maximum
                  as in host.Share; - is no maximum
  state           running; idle, with nothing to do; stopped, when its figures are more than
                  two seconds old: then its desire counts as its minimum; or dead, when its
                  process has ended: then others get its processors within two cycles
`, gat.Path())
}
