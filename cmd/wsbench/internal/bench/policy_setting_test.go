package bench

import (
	"testing"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/input"
	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/stretchr/testify/require"
)

func TestParsePolicy(t *testing.T) {
	for asked, want := range map[string]executor.Config{
		"adaptive":         {Experiment: experiment.Options{Policy: "adaptive"}},
		"abp+yields=never": {Experiment: experiment.Options{Policy: "abp", Yields: "never"}},
		"mbws+threshold=32+busywakes": {
			Experiment: experiment.Options{Policy: "mbws", SleepThreshold: 32, BusyWakes: true},
		},
		"bws-clock+check": {Experiment: experiment.Options{Policy: "bws-clock", CheckPeers: true}},
	} {
		var cfg executor.Config
		require.NoError(t, parsePolicy(asked, &cfg), asked)
		require.Equal(t, want, cfg)
	}
	for asked, want := range map[string]string{
		"x":                            `no policy "x": there are adaptive, `,
		"mbws+":                        `what is ""?`,
		"mbws+threshold":               `what is "threshold"? After a policy may come +threshold=N, +yields=each|`,
		"mbws+threshold=0":             `what is "threshold=0"?`,
		"mbws+threshold=5+threshold=6": `+threshold is given twice`,
		"abp+yields=often":             `what is "yields=often"?`,
		"abp+busywakes":                `policy abp does not have it: leave it zero, or use policy mbws or `,
		"adaptive+threshold=5":         `SleepThreshold is set, and policy adaptive does not have it`,
	} {
		err := checkPolicy(asked)
		require.ErrorContains(t, err, want, asked)
		var bad *input.Error
		require.ErrorAs(t, err, &bad)
	}
}
