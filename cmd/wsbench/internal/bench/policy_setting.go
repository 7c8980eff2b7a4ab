package bench

import (
	"strconv"
	"strings"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/input"
	"github.com/magpie-go/magpie/executor"
)

// parsePolicy reads the Policy of a [Setting] into cfg: a policy, then executor.PolicyOptions for it, each after a plus
// sign, as in "mbws+threshold=128".
func parsePolicy(setting string, cfg *executor.Config) (err error) {
	name, options, more := strings.Cut(setting, "+")
	if cfg.Policy, err = executor.ParsePolicy(name); err != nil {
		return input.Unknown("policy", name, texts(executor.Policies()))
	}
	o := &cfg.PolicyOptions
	seen := make(map[string]bool)
	for option := ""; more; {
		option, options, more = strings.Cut(options, "+")
		key, value, _ := strings.Cut(option, "=")
		if seen[key] {
			return input.Errorf("policy %q: +%s is given twice", setting, key)
		}
		seen[key] = true
		number, notNumber := strconv.Atoi(value)
		yields, notYields := executor.ParseYields(value)
		switch {
		case option == "busywakes":
			o.BusyWakes = true
		case option == "check":
			o.CheckPeers = true
		case key == "threshold" && notNumber == nil && number > 0:
			o.SleepThreshold = number
		case key == "yields" && notYields == nil:
			o.Yields = yields
		default:
			ways := strings.ReplaceAll(join(executor.AllYields()), ", ", "|")
			return input.Errorf("policy %q: what is %q? After a policy may come +threshold=N, +yields=%s, "+
				"+busywakes and +check, see executor.PolicyOptions", setting, option, ways)
		}
	}
	return nil
}

// checkPolicy returns the error for which executor.New refuses that policy.
func checkPolicy(setting string) error {
	cfg := executor.Config{Workers: 1, KeepGOMAXPROCS: true}
	if err := parsePolicy(setting, &cfg); err != nil {
		return err
	}
	ex, err := executor.New(cfg)
	if err != nil {
		return input.Errorf("policy %s: %s", setting, strings.TrimPrefix(err.Error(), "executor: "))
	}
	return ex.Close()
}
