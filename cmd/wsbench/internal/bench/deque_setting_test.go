package bench

import (
	"bytes"
	"testing"

	"github.com/magpie-go/magpie/cmd/internal/environment"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench/workloads"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/input"
	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/stretchr/testify/require"
)

func TestParseDeque(t *testing.T) {
	for setting, want := range map[string]executor.Config{
		"chaselev":    {},
		"padws":       {Experiment: experiment.Options{Deque: deque.KindPadWS}},
		"locked+half": {Experiment: experiment.Options{Deque: deque.KindLocked, Steal: deque.Half}},
		"bwos+block+capacity=64+blocksize=8": {Experiment: experiment.Options{
			Deque: deque.KindBWoS, Steal: deque.Block, Capacity: 64, BlockSize: 8,
		}},
	} {
		got, err := parseDeque(setting)
		require.NoError(t, err)
		require.Equal(t, want, got)
		require.NoError(t, checkDeque(setting))
	}
	for setting, want := range map[string]string{
		"":           `no deque "": there are chaselev, `,
		"wheel+half": `no deque "wheel": there are chaselev, `,
		"split": `no deque "split": it is deque chaselev with forks private, the default; ` +
			"deque chaselev was what forks pushed are now",
		"padws+":                `deque "padws+": what is ""? After padws may come +half or `,
		"padws+blocksize":       `what is "blocksize"?`,
		"padws+blocksize=eight": `what is "blocksize=eight"?`,
		"padws+capacity=0":      `what is "capacity=0"?`,
		"padws+half=2":          `what is "half=2"?`,
		"abp+half": "deque abp+half: Config.Experiment.Steal is half, but from abp thieves take one item" +
			" at a time",
		"locked+blocksize=4":     "locked has no blocks",
		"abp+capacity=100000000": "Capacity is 100000000: choose 1 to",
	} {
		var bad *input.Error
		require.ErrorAs(t, checkDeque(setting), &bad, setting)
		require.ErrorContains(t, bad, want)
	}
}

// TestDequeSettings: results have the deque's whole name, in every format.
func TestDequeSettings(t *testing.T) {
	for _, format := range Formats() {
		var out bytes.Buffer
		report, err := NewReport[Result](format, &out, environment.Read(), nil)
		require.NoError(t, err)
		s := Session{
			Workloads: []*workloads.Workload{btree}, Engines: Engines()[:1], N: 100, Reps: 1,
			Axes: Axes{
				Policies: []string{"adaptive"}, Deques: []string{"padws+half+blocksize=8"}, Forks: bothForks[1:],
				Workers: []int{2},
			},
			Emit: report.Add,
		}
		require.NoError(t, s.Run(t.Context()))
		require.NoError(t, report.Close())
		require.Contains(t, out.String(), "padws+half+blocksize=8", format)
	}
}
