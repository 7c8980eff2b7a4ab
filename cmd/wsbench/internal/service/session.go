package service

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/input"
	"github.com/magpie-go/magpie/internal/cgroup"
)

// A Session measures all its backgrounds with all its loads and tasks, in turn and several times.
type Session struct {
	Backgrounds []*Background
	Loads       []*Load
	Tasks       []time.Duration // about how long a task takes alone
	Rate        float64         // requests a second
	Measure     time.Duration   // of a measurement
	Rounds      int
	Seed        uint64
	Quota       float64 // CPUs that the server may use; 0 means that there is no quota

	// Command starts this program again, so that it calls [Child].
	Command []string
	// Step, if not nil, is called before each measurement with how long it is to the end.
	Step func(what string, expect time.Duration)

	group *cgroup.Group // with a Quota
}

// The limits of Session.Measure.
const (
	LeastTime = 50 * time.Millisecond
	MostTime  = time.Hour
)

// The other limits of a Session.
const (
	leastRate, mostRate = 1, 20_000
	leastTask, mostTask = 10 * time.Microsecond, time.Second
	leastQuota          = 0.05
	mostRounds          = 1000
	mostSamples         = 10_000_000
	mostWarm            = time.Second
	tasksOpen           = 16 // of a background that starts many
	startTime           = 300 * time.Millisecond
	grace               = 10 * time.Second // from when the measurement is interrupted until it leaves its processes
	mostEnd             = 5 * time.Minute  // from when a process is told to end until it is killed
)

// Validate returns an [input.Error] if the session cannot be run.
func (s *Session) Validate() error {
	for _, b := range s.Backgrounds {
		if !b.Usable() {
			return input.Errorf("background %s is for Linux only: choose others", b.Name)
		}
	}
	for _, t := range s.Tasks {
		if t < leastTask || t > mostTask {
			return input.Errorf("task %v: choose %v to %v", t, leastTask, mostTask)
		}
	}
	switch {
	case s.Quota != 0 && !(s.Quota >= leastQuota && s.Quota <= float64(runtime.NumCPU())):
		return input.Errorf("quota %v: choose %v to %d CPUs, of which this process may use so many",
			s.Quota, leastQuota, runtime.NumCPU())
	case !(s.Rate >= leastRate && s.Rate <= mostRate):
		return input.Errorf("rate %v: choose %d to %d requests a second", s.Rate, leastRate, mostRate)
	case s.Measure < LeastTime || s.Measure > MostTime:
		return input.Errorf("%v a measurement: choose %v to %v", s.Measure, LeastTime, MostTime)
	case s.Rounds < 1 || s.Rounds > mostRounds:
		return input.Errorf("rounds must be 1 to %d, not %d", mostRounds, s.Rounds)
	case s.Rate*s.Measure.Seconds()*float64(s.Rounds) > mostSamples:
		return input.Errorf("more than %d requests with one background: choose a smaller rate or time, or fewer rounds",
			mostSamples)
	}
	return nil
}

// A setting is one background with one load and task.
type setting struct {
	background *Background
	load       *Load
	task       time.Duration
	units      int // of the task
}

func (s setting) String() string {
	if s.background.Name == None {
		return None
	}
	return fmt.Sprintf("%s, %s in tasks of %v", s.background.Name, s.load.Name, s.task)
}

// A repetition is what was measured of a setting once.
type repetition struct {
	loadResult
	sorted []int64 // the latencies
}

// Run measures, and returns the cases in the order of loads, tasks and backgrounds. All results are verified.
func (s *Session) Run(ctx context.Context) ([]*Case, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if s.Quota != 0 {
		g, err := cgroup.Create(fmt.Sprintf("magpie-service-%d", os.Getpid()), s.Quota)
		if err != nil {
			return nil, input.Errorf("%v: run as root, or without -quota under a quota of your own, as "+
				"systemd-run -p CPUQuota=150%% sets it", err)
		}
		s.group = g
		defer func() { _ = g.Remove() }() // the measurements are right all the same
	}
	var settings []setting
	for _, l := range s.Loads {
		for _, t := range s.Tasks {
			units := l.UnitsOf(t)
			for _, b := range s.Backgrounds {
				settings = append(settings, setting{b, l, t, units})
			}
		}
	}
	all := make([][]*repetition, len(settings))
	begin := time.Now()
	each, done := s.warm()+s.Measure+startTime, 0
	for round := range s.Rounds {
		for i := range settings {
			at := (i + round) % len(settings) // no background always comes after the same one
			if s.Step != nil {
				what := fmt.Sprintf("round %d of %d: %v", round+1, s.Rounds, settings[at])
				s.Step(what, each*time.Duration(s.Rounds*len(settings)-done))
			}
			r, err := s.measure(ctx, settings[at], s.Seed+uint64(round)*2)
			if err != nil {
				return nil, err
			}
			all[at] = append(all[at], r)
			done++
			each = time.Since(begin) / time.Duration(done)
		}
	}
	var cases []*Case
	for i, at := range settings {
		cases = append(cases, s.newCase(at, all[i]))
	}
	return cases, nil
}

// warm returns the time before a measurement for which the server is under load already.
func (s *Session) warm() time.Duration { return min(s.Measure, mostWarm) }

// measure measures a setting once.
func (s *Session) measure(ctx context.Context, at setting, seed uint64) (*repetition, error) {
	wrap := func(err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("service with background %v: %w", at, err)
	}
	server, err := s.start(ctx, serverRole)
	if err != nil {
		return nil, wrap(err)
	}
	defer server.kill()
	var ready serverReady
	cfg := serverConfig{Background: at.background.Name, Load: at.load.Name, Units: at.units, Window: tasksOpen}
	if err := server.exchange(cfg, &ready); err != nil {
		return nil, wrap(err)
	}
	load, err := s.start(ctx, loadRole)
	if err != nil {
		return nil, wrap(err)
	}
	defer load.kill()
	r := new(repetition)
	err = load.exchange(loadConfig{
		Address: ready.Address, Rate: s.Rate, Warm: s.warm(), Measure: s.Measure, Seed: seed,
	}, &r.loadResult)
	if err == nil {
		err = load.end()
	}
	// The server's own error, as a wrong result of the background, explains the load's.
	if err := errors.Join(server.end(), err); err != nil {
		return nil, wrap(err)
	}
	r.sorted = slices.Sorted(slices.Values(r.Latencies))
	return r, nil
}

// A process is one of the two of a measurement.
type process struct {
	role   string
	cmd    *exec.Cmd
	in     *json.Encoder
	out    *json.Decoder
	close  func() error // its input
	errors bytes.Buffer
	ended  bool
}

func (s *Session) start(ctx context.Context, role string) (*process, error) {
	command, grouped := s.Command, s.group != nil && role == serverRole
	if grouped {
		// The runtime reads the quota when it begins: the program begins when it is in the group.
		command = slices.Concat([]string{"sh", "-c", `read -r _ && exec "$0" "$@"`}, command)
	}
	p := &process{role: role, cmd: exec.CommandContext(ctx, command[0], command[1:]...)}
	p.cmd.Env = append(os.Environ(), roleVariable+"="+role)
	p.cmd.Stderr = &p.errors
	p.cmd.WaitDelay = grace
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.in, p.out, p.close = json.NewEncoder(in), json.NewDecoder(out), in.Close
	if err := p.cmd.Start(); err != nil || !grouped {
		return p, err
	}
	if err := s.group.Add(p.cmd.Process.Pid); err != nil {
		p.kill()
		return nil, err
	}
	_, err = io.WriteString(in, "go\n")
	return p, err
}

// exchange tells the process its configuration and takes its answer.
func (p *process) exchange(cfg, answer any) error {
	err := p.in.Encode(cfg)
	if err == nil {
		err = p.out.Decode(answer)
	}
	if err != nil {
		if e := p.end(); e != nil {
			err = e
		}
	}
	return err
}

// end tells the process to end, and waits for that.
func (p *process) end() error {
	if p.ended {
		return nil
	}
	p.ended = true
	_ = p.close()
	late := time.AfterFunc(mostEnd, func() { _ = p.cmd.Process.Kill() })
	defer late.Stop()
	err := p.cmd.Wait()
	if said := strings.TrimSpace(p.errors.String()); err != nil && said != "" {
		return errors.New(said)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", p.role, err)
	}
	return nil
}

// kill ends the process if it has not ended.
func (p *process) kill() {
	if !p.ended {
		_ = p.cmd.Process.Kill()
		_ = p.end()
	}
}
