package bench

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench/workloads"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/input"
	"github.com/magpie-go/magpie/executor/host"
	"github.com/magpie-go/magpie/internal/allot"
	"github.com/magpie-go/magpie/internal/gat"
)

// A ShareSetting is how executors of engine magpie share the machine: an host.Share, as flags have it.
type ShareSetting struct {
	host.Share
	knobs string // those that are not at their defaults, as in "weight=2+limit=4"
}

// String returns the setting for results: its knobs, or "yes". The path has no effect on figures, and is left out.
func (s *ShareSetting) String() string {
	if s.knobs == "" {
		return "yes"
	}
	return s.knobs
}

// A ShareKnob is a flag of wsbench run beside -share, and sets a field of an host.Share.
type ShareKnob struct {
	*workloads.Param
	set func(*host.Share, any)
}

// sharePrefix begins the names of the flags.
const sharePrefix = "share-"

func shareKnob[T any](p *workloads.Param, set func(*host.Share, T)) *ShareKnob {
	return &ShareKnob{p, func(s *host.Share, v any) { set(s, v.(T)) }}
}

// ShareKnobs lists the knobs.
func ShareKnobs() []*ShareKnob {
	const most = 1 << 20 // processors
	return []*ShareKnob{
		shareKnob(workloads.IntParam("share-weight", "N", 1, 1, allot.MaxWeight,
			"part of contended processors, relative to others"),
			func(s *host.Share, n int) { s.Weight = n }),
		shareKnob(workloads.IntParam("share-minimum", "N", 0, 0, most, "processors before others have more than one"),
			func(s *host.Share, n int) { s.Minimum = n }),
		shareKnob(workloads.NewParam("share-maximum", "N", "", "the largest allotment (default: the workers)",
			workloads.IntFrom(1, most)),
			func(s *host.Share, n int) { s.Maximum = n }),
		shareKnob(workloads.NewParam("share-cycle", "TIME", "5ms", "time between two estimates, the same in all jobs",
			parseCycle),
			func(s *host.Share, d time.Duration) { s.Cycle = d }),
		shareKnob(workloads.NewParam("share-processors", "N", "",
			"processors that are shared, the same in all jobs\n(default: those that the process may use)",
			workloads.IntFrom(1, most)),
			func(s *host.Share, n int) { s.Processors = n }),
		shareKnob(workloads.NewParam("share-desire", "RULE", allot.Rules[0].Name,
			join(allot.Names())+": how it estimates what it can use", parseDesire),
			func(s *host.Share, d string) { s.Desire = d }),
		shareKnob(workloads.NewParam("share-efficiency", "F", "0.5", "the target of steal-ratio, above 0 and at most 1",
			parseEfficiency),
			func(s *host.Share, f float64) { s.Efficiency = f }),
	}
}

func parseCycle(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < time.Millisecond || d > time.Second {
		return 0, errors.New("choose 1ms to 1s")
	}
	return d, nil
}

func parseDesire(text string) (string, error) {
	if names := allot.Names(); !slices.Contains(names, text) {
		return "", fmt.Errorf("choose %s", strings.Join(names, " or "))
	}
	return text, nil
}

func parseEfficiency(text string) (float64, error) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !(f >= 0.001 && f <= 1) {
		return 0, errors.New("choose a number above 0 and at most 1")
	}
	return f, nil
}

// NewShareSetting returns the setting with that path and these values of knobs, by the names of their flags.
func NewShareSetting(path string, knobs map[string]string) (*ShareSetting, error) {
	s := &ShareSetting{Share: host.Share{Path: path}}
	var set []string
	for _, k := range ShareKnobs() {
		text, ok := knobs[k.Name]
		if !ok {
			continue
		}
		v, err := k.Parse(text)
		if err != nil {
			return nil, input.Errorf("-%s %s: %v", k.Name, text, err)
		}
		k.set(&s.Share, v)
		if value := fmt.Sprint(v); value != k.Default {
			set = append(set, strings.TrimPrefix(k.Name, sharePrefix)+"="+value)
		}
	}
	s.knobs = strings.Join(set, "+")
	return s, nil
}

// validateShare returns an error where executors cannot share at all.
func (s *Session) validateShare() error {
	if s.Axes.Share == nil {
		return nil
	}
	if _, err := gat.Read(s.Axes.Share.path()); errors.Is(err, errors.ErrUnsupported) {
		return input.Errorf("-share: %s", strings.TrimPrefix(err.Error(), "gat: "))
	}
	return nil
}

func (s *ShareSetting) path() string {
	if s.Path == "" {
		return gat.Path()
	}
	return s.Path
}

// config returns the value of executor.Config.Host.Share.
func (s *ShareSetting) config() *host.Share {
	if s == nil {
		return nil
	}
	return &s.Share
}

// checkJoined returns an error if an executor was to share the machine and is alone: its figures would be taken for
// those of one that shares.
func (s *ShareSetting) checkJoined(stats host.ShareStats) error {
	if s == nil || stats.Joined {
		return nil
	}
	return fmt.Errorf("the executor was to share the machine, and is alone: %w", stats.Err)
}

// ShareFigures say how an executor has shared the machine: what was set, and the host.ShareStats at the end of the
// run. Without a cycle nothing was estimated in the run.
type ShareFigures struct {
	Setting string `json:"setting"` // knobs that are not at their defaults, or yes
	Path    string `json:"path"`

	Desire     int     `json:"desire"`
	Allotment  int     `json:"allotment"`
	Usage      int     `json:"usage"`
	Efficiency float64 `json:"efficiency"`
	Cycles     uint64  `json:"cycles"`
	MeanUsage  float64 `json:"mean_usage"`
}

// figures returns the figures of an executor with the setting, nil without one.
func (s *ShareSetting) figures(stats host.ShareStats) *ShareFigures {
	if s == nil {
		return nil
	}
	return &ShareFigures{
		Setting: s.String(), Path: s.path(), Desire: stats.Desire, Allotment: stats.Allotment, Usage: stats.Usage,
		Efficiency: stats.Efficiency, Cycles: stats.Cycles, MeanUsage: stats.MeanUsage,
	}
}

// shareName is the name of the setting.
const shareName = "share"

// setting returns the value of the setting, [None] without figures.
func (f *ShareFigures) setting() string {
	if f == nil {
		return None
	}
	return f.Setting
}

// metrics are the figures in the Go benchmark format.
func (f *ShareFigures) metrics() []Metric {
	return []Metric{
		{"share-desire", float64(f.Desire)},
		{"share-allotment", float64(f.Allotment)},
		{"share-usage", float64(f.Usage)},
		{"share-efficiency", f.Efficiency},
		{"share-cycles", float64(f.Cycles)},
		{"share-mean-usage", f.MeanUsage},
	}
}

// shareColumns are columns of the table of runs.
var shareColumns = []textColumn{
	figureColumn("desire", "share-desire", whole),
	figureColumn("allotted", "share-allotment", whole),
	figureColumn("usage", "share-usage", whole),
	figureColumn("efficiency", "share-efficiency", percent),
	figureColumn("cycles", "share-cycles", whole),
}
