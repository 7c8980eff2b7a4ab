package replay

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// roundsOf measures programs that have turns, and returns the rows.
func roundsOf(t *testing.T, rounds Rounds, reps int, programs ...string) (*Data, error) {
	e := experiment("004/x")
	e.plan = func(p *Plan) {
		var all []Program
		for i, args := range programs {
			all = append(all, p.program(map[string]string{"process": string(rune('1' + i))}, "run "+args))
		}
		p.rounds(time.Second, rounds, reps, all...)
	}
	r := fakeReplay(t, e)
	if err := r.Begin(context.Background()); err != nil {
		return nil, err
	}
	s, err := openStore(r.Dir)
	require.NoError(t, err)
	defer s.close()
	return s.data(r.Options, e.measurements(r.Options))
}

// TestRounds: programs have turns. Those that wait for a slot have a response time that is longer, and late ones one
// that begins when they arrive.
func TestRounds(t *testing.T) {
	const slow = 30e6 // nanoseconds
	for _, tt := range []struct {
		name     string
		rounds   Rounds
		programs []string
		least    []float64 // response times in units of slow
		whole    float64   // of the round
	}{
		{"in turn", Rounds{Slots: 1, Arrivals: []float64{0, 0, 0}}, []string{"slow 1", "slow 2", "slow 3"},
			[]float64{1, 2, 3}, 3},
		{"two at a time", Rounds{Slots: 2, Arrivals: []float64{0, 0, 0}}, []string{"slow 1", "slow 2", "slow 3"},
			[]float64{1, 1, 2}, 2},
		{"late", Rounds{Arrivals: []float64{0, 2}}, []string{"slow 1", "slow 2"}, []float64{1, 1}, 3},
		// The second arrives while the first runs, even if the run that gives the unit took some minutes.
		{"late and waiting", Rounds{Slots: 1, Arrivals: []float64{0, 0.0001}}, []string{"slow 1", "slow 2"},
			[]float64{1, 1.2}, 2},
	} {
		d, err := roundsOf(t, tt.rounds, 3, tt.programs...)
		require.NoError(t, err, tt.name)
		require.Len(t, d.Rows, 3*len(tt.programs), tt.name)
		for i, least := range tt.least {
			part := d.where("process=%d", i+1)
			require.Len(t, part.Rows, 3, tt.name)
			require.GreaterOrEqual(t, part.stat("response-ns").Least, least*slow, "%s: %d", tt.name, i+1)
		}
		require.GreaterOrEqual(t, d.stat("round-ns").Least, tt.whole*slow, tt.name)
	}
	// Without arrivals, the one that is first in a round is another each time.
	d, err := roundsOf(t, Rounds{Slots: 1}, 2, "slow 1", "slow 2")
	require.NoError(t, err)
	for _, process := range []string{"1", "2"} {
		require.GreaterOrEqual(t, d.where("process=%s", process).stat("response-ns").Most, 2*slow)
	}
	_, err = roundsOf(t, Rounds{Slots: 1}, 3, "fast 1", "deserter 1")
	require.ErrorContains(t, err, "ended early")
}

// TestTable: programs that share the machine have a table of their own in each measurement.
func TestTable(t *testing.T) {
	shared := &Measurement{Programs: []Program{{Args: []string{"run", "fib", shareFlag, "-share-cycle", "1ms"}}}}
	r := &runner{command: []string{"wsbench"}}
	own, remove := r.withTable(shared)
	require.NotEmpty(t, own.table)
	require.Contains(t, own.start(t.Context(), shared.Programs[0]).Args, shareFlag+"="+own.table)
	require.Equal(t, shareFlag, shared.Programs[0].Args[2])
	remove()
	require.NoDirExists(t, own.table[:len(own.table)-len("/table.gat")])
	own, remove = r.withTable(&Measurement{Programs: []Program{{Args: []string{"run", "fib"}}}})
	require.Same(t, r, own)
	remove()
}
