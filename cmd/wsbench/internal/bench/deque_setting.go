package bench

import (
	"strconv"
	"strings"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/input"
	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/executor"
)

// parseDeque reads the Deque of a [Setting]: a kind, then the options of Config.Experiment for it, each after a plus
// sign, as in "padws+half+capacity=64+blocksize=8". half and block are values of Config.Experiment.Steal.
func parseDeque(setting string) (cfg executor.Config, err error) {
	name, options, more := strings.Cut(setting, "+")
	if name == "split" {
		return cfg, input.Errorf(
			"no deque %q: it is deque %v with forks private, the default; deque %[2]v was what forks pushed are now", name,
			deque.KindChaseLev)
	}
	if err := cfg.Experiment.Deque.UnmarshalText([]byte(name)); err != nil || name == "" {
		return cfg, input.Unknown("deque", name, texts(deque.Kinds()))
	}
	for option := ""; more; {
		option, options, more = strings.Cut(options, "+")
		key, value, _ := strings.Cut(option, "=")
		number, err := strconv.Atoi(value)
		switch {
		case option == deque.Half.String():
			cfg.Experiment.Steal = deque.Half
		case option == deque.Block.String():
			cfg.Experiment.Steal = deque.Block
		case key == "capacity" && err == nil && number > 0:
			cfg.Experiment.Capacity = number
		case key == "blocksize" && err == nil && number > 0:
			cfg.Experiment.BlockSize = number
		default:
			return cfg, input.Errorf("deque %q: what is %q? After %s may come +half or +block, "+
				"which is how much a thief takes, +capacity=N and +blocksize=N", setting, option, name)
		}
	}
	return cfg, nil
}

// checkDeque returns the error for which executor.New refuses that deque.
func checkDeque(setting string) error {
	cfg, err := parseDeque(setting)
	if err != nil {
		return err
	}
	cfg.Workers, cfg.Host.KeepGOMAXPROCS = 1, true
	ex, err := executor.New(cfg)
	if err != nil {
		return input.Errorf("deque %s: %s", setting, strings.TrimPrefix(err.Error(), "executor: "))
	}
	return ex.Close()
}
