package bench

import (
	"context"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench/workloads"
	"github.com/magpie-go/magpie/internal/plan"
)

// serial walks the plan on the calling goroutine: the work alone, without scheduling.
type serial struct {
	walk *plan.Serial
	ran  int
}

func openSerial(_ Setting, t Target) (Runner, error) {
	return &serial{walk: plan.NewSerial(t.Plan)}, nil
}

func (s *serial) Start() error {
	s.ran = 0
	return nil
}

func (s *serial) Run(ctx context.Context) error {
	n, err := s.walk.Run(ctx)
	s.ran += n
	return err
}

func (s *serial) Counts() Counts { return Counts{Tasks: uint64(s.ran)} }

func (s *serial) Stop() error { return nil }

// serialProgram runs a program serially.
type serialProgram struct{ program workloads.Program }

func openSerialProgram(_ Setting, p workloads.Program) Runner { return serialProgram{p} }

func (s serialProgram) Start() error { return nil }

func (s serialProgram) Run(context.Context) error {
	s.program.Serial()
	return nil
}

func (s serialProgram) Counts() Counts { return Counts{} }

func (s serialProgram) Stop() error { return nil }
