package bench

import (
	"context"
	"fmt"

	"github.com/magpie-go/magpie/internal/plan"
)

// A fakeEngine walks graphs serially and logs the calls. It can be made to do it wrong.
type fakeEngine struct {
	name string
	log  *[]string
	up   *int // runners started and not stopped, of all engines together
	runs int  // the number of runs so far, of all runners

	wrong func(run int, p *plan.Plan) (leaveOut int, miscount int) // nil: no mistakes
}

// bothForks are the ways to fork.
var bothForks = []string{"private", "pushed"}

func (f *fakeEngine) engine() *Engine {
	return &Engine{
		Name: f.name,
		Settings: func(a Axes) (all []Setting) {
			for _, w := range a.Workers {
				all = append(all, Setting{f.name, None, None, None, w, nil, false})
			}
			return all
		},
		Open: func(s Setting, t Target) (Runner, error) { return &fakeRunner{f: f, s: s, plan: t.Plan}, nil },
	}
}

type fakeRunner struct {
	f     *fakeEngine
	s     Setting
	plan  *plan.Plan
	count int
}

func (r *fakeRunner) Start() error {
	if *r.f.up++; *r.f.up > 1 {
		return fmt.Errorf("%d runners at once", *r.f.up)
	}
	return nil
}

func (r *fakeRunner) Stop() error {
	*r.f.up--
	return nil
}

func (r *fakeRunner) Run(ctx context.Context) error {
	*r.f.log = append(*r.f.log, fmt.Sprintf("%s%d", r.f.name, r.s.Workers))
	p := *r.plan
	miscount := 0
	if r.f.wrong != nil {
		leaveOut, m := r.f.wrong(r.f.runs, r.plan)
		miscount = m
		if leaveOut >= 0 {
			p.Funcs = append([]plan.Func(nil), p.Funcs...)
			p.Funcs[leaveOut] = empty
		}
	}
	r.f.runs++
	n, err := plan.NewSerial(&p).Run(ctx)
	r.count += n + miscount
	return err
}

func (r *fakeRunner) Counts() Counts { return Counts{Tasks: uint64(r.count)} }

// fakes returns two engines, a and b, that share a log.
func fakes() (a, b *fakeEngine, log *[]string) {
	log, up := new([]string), new(int)
	return &fakeEngine{name: "a", log: log, up: up}, &fakeEngine{name: "b", log: log, up: up}, log
}
