package replay

import (
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/magpie-go/magpie/cmd/internal/environment"
)

// A beginning says on what an experiment began. A replay that was interrupted has one more for each time it went on.
type beginning struct {
	At     time.Time `json:"at"`
	Seed   uint64    `json:"seed"`
	Commit string    `json:"commit,omitempty"`
	Load   string    `json:"load,omitempty"` // averages over 1, 5 and 15 minutes
	// BusyCores are the cores that were busy in the fifth of a second before. The load average of a minute is that of
	// the replay's own measurements, but for the first.
	BusyCores *float64 `json:"busy_cores,omitempty"` // nil where it is not known
}

// lookFor is how long a replay looks whether the machine is busy: 20 ticks of the kernel's processor times. In tests it
// is less.
var lookFor = 200 * time.Millisecond

// begin waits a little, and says on what an experiment begins.
func (r *Replay) begin() *beginning {
	root := os.DirFS("/")
	before := readTicks(root)
	time.Sleep(lookFor)
	env := environment.Read()
	return &beginning{
		At: time.Now().UTC().Round(time.Second), Seed: r.Options.Seed, Commit: env.Commit, Load: env.Load,
		BusyCores: readTicks(root).busySince(before),
	}
}

// Busy reports whether the machine was: more than half of its cores.
func (b *beginning) Busy(cores int) bool {
	return b.BusyCores != nil && *b.BusyCores > 0.5*float64(cores)
}

func (b *beginning) String() string {
	s := fmt.Sprintf("%s, seed %d", b.At.Format("2006-01-02 15:04:05"), b.Seed)
	if b.Commit != "" {
		s += ", commit " + b.Commit
	}
	if b.Load != "" {
		s += ", load average " + b.Load
	}
	if b.BusyCores != nil {
		s += fmt.Sprintf(", busy cores %.1f", *b.BusyCores)
	}
	return s
}

// ticks are the processor times of a machine, in the kernel's ticks.
type ticks struct {
	cpus        int
	idle, total float64
}

// readTicks reads /proc/stat below root. Other systems than Linux do not have it: then there are no cpus.
func readTicks(root fs.FS) (t ticks) {
	text, err := fs.ReadFile(root, "proc/stat")
	if err != nil {
		return t
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		switch {
		case len(fields) < 9 || !strings.HasPrefix(fields[0], "cpu"):
		case fields[0] != "cpu":
			t.cpus++
		default: // user, nice, system, idle, waiting for a disk, interrupts, soft interrupts, taken by the hypervisor
			for i, f := range fields[1:9] {
				x, _ := strconv.ParseFloat(f, 64)
				t.total += x
				if i == 3 || i == 4 {
					t.idle += x
				}
			}
		}
	}
	return t
}

// busySince returns how many processors were busy since then, nil if that is not known.
func (t ticks) busySince(then ticks) *float64 {
	total := t.total - then.total
	if t.cpus == 0 || total <= 0 {
		return nil
	}
	busy := float64(t.cpus) * (1 - (t.idle-then.idle)/total)
	return &busy
}
