package bench

import (
	"slices"
	"strconv"
	"strings"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/input"
	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/executor/host"
)

// parsePolicy reads the Policy of a [Setting] into cfg: a policy, then experiment.Options for it, each after a plus
// sign, as in "mbws+threshold=128".
func parsePolicy(setting string, cfg *executor.Config) error {
	name, options, more := strings.Cut(setting, "+")
	if known := experiment.Policies(); !slices.Contains(known, name) {
		return input.Unknown("policy", name, known)
	}
	o := &cfg.Experiment
	o.Policy = name
	seen := make(map[string]bool)
	for option := ""; more; {
		option, options, more = strings.Cut(options, "+")
		key, value, _ := strings.Cut(option, "=")
		if seen[key] {
			return input.Errorf("policy %q: +%s is given twice", setting, key)
		}
		seen[key] = true
		number, notNumber := strconv.Atoi(value)
		switch {
		case option == "busywakes":
			o.BusyWakes = true
		case option == "check":
			o.CheckPeers = true
		case key == "threshold" && notNumber == nil && number > 0:
			o.SleepThreshold = number
		case key == "yields" && slices.Contains(experiment.Yields(), value):
			o.Yields = value
		default:
			ways := strings.Join(experiment.Yields(), "|")
			return input.Errorf("policy %q: what is %q? After a policy may come +threshold=N, +yields=%s, "+
				"+busywakes and +check, see package executor/experiment", setting, option, ways)
		}
	}
	return nil
}

// checkPolicy returns the error for which executor.New refuses that policy.
func checkPolicy(setting string) error {
	cfg := executor.Config{Workers: 1, Host: host.Options{KeepGOMAXPROCS: true}}
	if err := parsePolicy(setting, &cfg); err != nil {
		return err
	}
	ex, err := executor.New(cfg)
	if err != nil {
		return input.Errorf("policy %s: %s", setting, strings.TrimPrefix(err.Error(), "executor: "))
	}
	return ex.Close()
}
