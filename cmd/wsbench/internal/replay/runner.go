package replay

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/switches"
)

// A runner makes measurements with runs of wsbench in processes of their own. So the memory of one is not part of
// another's figures, and a run that fails takes nothing with it.
type runner struct {
	command []string // wsbench
	env     []string // besides this process's
	table   string   // the allocation table of programs with shareFlag; "" is the default
}

// measure makes a measurement.
func (r *runner) measure(ctx context.Context, m *Measurement) (*record, error) {
	if m.Computation != nil {
		return m.Computation.record(m.Key())
	}
	begin := time.Now()
	runs := make([]programRuns, len(m.Programs))
	for i, p := range m.Programs {
		runs[i].Program = p
	}
	var unrecorded string
	var err error
	r, remove := r.withTable(m)
	defer remove()
	switch {
	case m.Rounds != nil:
		err = r.rounds(ctx, runs, m)
	case len(runs) == 1:
		runs[0].Results, err = r.alone(ctx, m.Programs[0])
	default:
		unrecorded, err = r.together(ctx, runs, m.Reps)
	}
	if err != nil {
		return nil, err
	}
	return &record{
		Key: m.Key(), Programs: runs, TookNS: time.Since(begin).Nanoseconds(), At: time.Now().UTC().Round(time.Second),
		Unrecorded: unrecorded,
	}, nil
}

func (r *runner) start(ctx context.Context, p Program, more ...string) *exec.Cmd {
	args := append(append(r.command[1:len(r.command):len(r.command)], p.Args...), "-format", "json")
	if i := slices.Index(args, shareFlag); i >= 0 && r.table != "" {
		args[i] += "=" + r.table
	}
	cmd := exec.CommandContext(ctx, r.command[0], append(args, more...)...)
	cmd.Env = append(os.Environ(), r.env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second // then it is killed
	return cmd
}

// alone runs one program.
func (r *runner) alone(ctx context.Context, p Program) ([]json.RawMessage, error) {
	cmd := r.start(ctx, p)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return nil, failure(ctx, p, err, &errs)
	}
	results, err := results(&out)
	if err == nil && len(results) == 0 {
		err = errors.New("no results")
	}
	if err != nil {
		return nil, fmt.Errorf("wsbench %s: %w", quote(p.Args), err)
	}
	return results, nil
}

// A refusal says why a program cannot run on this machine. It is a result: what depends on it cannot be shown here.
type refusal struct {
	program Program
	message string
}

func (r *refusal) Error() string {
	return fmt.Sprintf("wsbench %s: %s", quote(r.program.Args), r.message)
}

// statusRefused is the exit status of wsbench for bad input, which a policy that this machine lacks is too.
const statusRefused = 2

func failure(ctx context.Context, p Program, err error, stderr *bytes.Buffer) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	message := strings.TrimPrefix(strings.TrimSpace(stderr.String()), "wsbench: ")
	var exit *exec.ExitError
	switch {
	case message == "" || !errors.As(err, &exit):
		message = strings.TrimSpace(err.Error() + " " + message)
	case exit.ExitCode() == statusRefused:
		return &refusal{p, message}
	}
	return fmt.Errorf("wsbench %s: %s", quote(p.Args), message)
}

// results reads the lines that wsbench wrote.
func results(r io.Reader) (all []json.RawMessage, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		if _, err := parseRow(lines.Bytes(), nil); err != nil {
			return nil, err
		}
		all = append(all, json.RawMessage(bytes.Clone(lines.Bytes())))
	}
	return all, lines.Err()
}

// together runs programs at the same time. All prepare; then all begin, and repeat until each has made so
// many repetitions. A repetition that was in progress when the slowest had made its last does not count.
//
// Meanwhile their context switches are recorded. Where that is not possible, unrecorded says why, and the programs are
// measured without.
func (r *runner) together(ctx context.Context, runs []programRuns, reps int) (unrecorded string, err error) {
	live, cancel := context.WithCancel(ctx)
	defer cancel()
	var mates []*mate
	var recording *switches.Recording
	err = func() error {
		for i := range runs {
			m, err := r.startMate(live, runs[i].Program, reps)
			if err != nil {
				return err
			}
			mates = append(mates, m)
		}
		for _, m := range mates {
			if err := m.await(ctx, m.ready); err != nil {
				return err
			}
		}
		var err error
		if recording, err = recordSwitches(); err != nil {
			unrecorded = err.Error()
		} else {
			for i, m := range mates {
				m.count(recording, slices.Concat(mates[:i], mates[i+1:]))
			}
		}
		for _, m := range mates {
			if _, err := io.WriteString(m.stdin, "begin\n"); err != nil {
				return fmt.Errorf("wsbench %s: %w", quote(m.program.Args), err)
			}
		}
		for _, m := range mates {
			if err := m.await(ctx, m.enough); err != nil {
				return err
			}
		}
		return nil
	}()
	for i, m := range mates {
		runs[i].Results, runs[i].Switches = m.soFar() // before any has ended: afterwards the others have the machine
	}
	for _, m := range mates {
		_ = m.stdin.Close() // which ends the loop
	}
	if err != nil {
		cancel()
	}
	for _, m := range mates {
		if waitErr := m.wait(ctx); err == nil {
			err = waitErr
		}
	}
	if recording != nil {
		err = errors.Join(err, recording.Stop())
	}
	return unrecorded, err
}

// recordSwitches begins to record context switches. Tests replace it.
var recordSwitches = switches.Record

// A mate is a program of a co-run: wsbench with the flag -loop. It writes an empty line when it has prepared, waits for
// a line, and then repeats its work until its standard input ends.
type mate struct {
	program Program
	reps    int
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	stderr  bytes.Buffer

	ready, enough chan struct{} // closed
	ended         chan struct{} // closed when the process has ended

	mu        sync.Mutex
	results   []json.RawMessage
	wrong     error // a line that is no result
	recording *switches.Recording
	others    []int            // the process ids of the other programs
	switches  *switches.Counts // up to the last result; nil without a recording
	told      chan time.Time   // when each result came, if the programs have turns; else nil

	err error // with which the process ended; set before ended is closed
}

// startMate starts a program. Without a number of repetitions it has turns.
func (r *runner) startMate(ctx context.Context, p Program, reps int) (m *mate, err error) {
	m = &mate{
		program: p, reps: reps, cmd: r.start(ctx, p, "-loop"),
		ready: make(chan struct{}), enough: make(chan struct{}), ended: make(chan struct{}),
	}
	if reps == 0 {
		m.told = make(chan time.Time, 1)
	}
	m.cmd.Stderr = &m.stderr
	if m.stdin, err = m.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := m.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := m.cmd.Start(); err != nil {
		return nil, fmt.Errorf("wsbench %s: %w", quote(p.Args), err)
	}
	go func() {
		defer close(m.ended)
		m.read(stdout)
		m.err = m.cmd.Wait()
	}()
	return m, nil
}

// read reads the output to its end.
func (m *mate) read(stdout io.Reader) {
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 1<<24)
	ready := false
	for lines.Scan() {
		if len(lines.Bytes()) == 0 && !ready {
			ready = true
			close(m.ready)
			continue
		}
		_, err := parseRow(lines.Bytes(), nil)
		m.mu.Lock()
		if err != nil && m.wrong == nil {
			m.wrong = err
		}
		m.results = append(m.results, json.RawMessage(bytes.Clone(lines.Bytes())))
		if m.recording != nil {
			counts := m.recording.Counts(m.cmd.Process.Pid, m.others...)
			m.switches = &counts
		}
		if len(m.results) == m.reps {
			close(m.enough)
		}
		if m.told != nil {
			m.told <- time.Now()
		}
		m.mu.Unlock()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.wrong == nil {
		m.wrong = lines.Err()
	}
}

// await waits until c is closed. It returns an error if m ends before, which it should not.
func (m *mate) await(ctx context.Context, c chan struct{}) error {
	select {
	case <-c:
		return nil
	case <-m.ended:
	}
	select {
	case <-c: // and then it ended
		return nil
	default:
	}
	if err := m.wait(ctx); err != nil {
		return err
	}
	return fmt.Errorf("wsbench %s: ended early", quote(m.program.Args))
}

// count has m count its switches from now on.
func (m *mate) count(r *switches.Recording, others []*mate) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.recording = r
	for _, o := range others {
		m.others = append(m.others, o.cmd.Process.Pid)
	}
}

// soFar returns the results, and the switches up to the last one.
func (m *mate) soFar() ([]json.RawMessage, *switches.Counts) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.results[:len(m.results):len(m.results)], m.switches
}

// wait waits for the end of the process, and returns the error with which it ended.
func (m *mate) wait(ctx context.Context) error {
	<-m.ended
	if m.err != nil {
		return failure(ctx, m.program, m.err, &m.stderr)
	}
	return m.wrong
}
