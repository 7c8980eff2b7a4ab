package bench

import (
	"context"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/input"
)

// Loop prepares the only workload of s in its only setting and calls begin. Then it repeats the workload as long as
// more returns true, and emits each result at once: a program of a co-run, which others start and end.
func (s *Session) Loop(ctx context.Context, begin func() error, more func() bool) (err error) {
	if err := s.validate(); err != nil {
		return err
	}
	if len(s.Workloads) != 1 || len(s.Probes) > 0 {
		return input.Errorf("a loop repeats one workload, and %d are to run", len(s.Workloads)+len(s.Probes))
	}
	one := *s
	one.Reps = 1
	p, err := one.prepare(ctx, s.Workloads[0])
	if err != nil {
		return err
	}
	if len(p.trials) != 1 {
		return input.Errorf("a loop repeats one workload in one setting, and there are %d settings", len(p.trials))
	}
	if s.Keep {
		j := p.jobs[0]
		j.keep = true
		defer func() {
			if ctx.Err() != nil {
				return // a repetition of a program may still go on
			}
			if endErr := j.end(); err == nil {
				err = endErr
			}
		}()
	}
	repeat := p.trials[0].repeat
	if _, err := repeat(ctx, 0); err != nil { // the warm-up
		return err
	}
	if err := begin(); err != nil {
		return err
	}
	for rep := 1; more(); rep++ {
		r, err := repeat(ctx, rep)
		if err != nil {
			return err
		}
		if err := s.Emit([]Result{r}); err != nil {
			return err
		}
	}
	return nil
}
