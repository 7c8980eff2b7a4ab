package replay

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// beWsbench is an environment variable that makes the test binary a wsbench that measures nothing.
const beWsbench = "REPLAY_TEST_BE_WSBENCH"

func TestMain(m *testing.M) {
	if os.Getenv(beWsbench) != "" {
		os.Exit(fakeWsbench(os.Args[1:]))
	}
	lookFor = time.Millisecond
	os.Exit(m.Run())
}

// fakeWsbench does what the first argument after run says, and writes results with the time that is the one after.
func fakeWsbench(args []string) int {
	what, wall := args[1], args[2]
	result := func(rep int) {
		fmt.Printf(`{"workload":%q,"policy":"abp","workers":2,"n":7,"rep":%d,"inputs":"circuit=c17/ops=3",`+
			`"wall_ns":%s,"pool":{"steals":4,"busy_ns":[1]},"properties":[{"name":"gates","value":9}],"verified":true}`+
			"\n", what, rep, wall)
	}
	switch what {
	case "refused":
		fmt.Fprintln(os.Stderr, "wsbench: policy bws-same: no rseq here")
		return 2
	case "wrong":
		fmt.Fprintln(os.Stderr, "wsbench: wrong answer: 4 is not 5")
		return 1
	case "unverified":
		fmt.Println(`{"workload":"unverified","wall_ns":1,"verified":false}`)
		return 0
	case "silent":
		return 0
	case "garbage":
		fmt.Println("Segmentation fault")
		return 0
	case "forever":
		time.Sleep(time.Hour)
	}
	if !strings.Contains(strings.Join(args, " "), " -loop") {
		result(1)
		result(2)
		return 0
	}
	fmt.Println()
	in := bufio.NewReader(os.Stdin)
	speed := map[string]time.Duration{"slow": 30, "fast": 3}[what] * time.Millisecond
	line, err := in.ReadString('\n')
	for rep := 1; err == nil && line == "once\n"; rep++ {
		if what == "deserter" && rep == 2 {
			return 0
		}
		time.Sleep(speed)
		result(rep)
		line, err = in.ReadString('\n')
	}
	if err != nil {
		return 0
	}
	ended := make(chan struct{})
	go func() {
		_, _ = in.ReadString('\n') // the end
		close(ended)
	}()
	for rep := 1; ; rep++ {
		select {
		case <-ended:
			return 0
		case <-time.After(speed):
		}
		if what == "deserter" && rep == 2 {
			return 0
		}
		result(rep)
	}
}

// fake returns a runner of the fake, and a replay with experiments.
func fakeReplay(t *testing.T, experiments ...*Experiment) *Replay {
	exe, err := os.Executable()
	require.NoError(t, err)
	return &Replay{
		Dir: t.TempDir() + "/replay", Experiments: experiments, Options: Options{Seed: 42},
		Command: []string{exe},
		// Under the race detector a process sleeps for a second at its end if it is not told otherwise.
		Env: []string{beWsbench + "=1", "GORACE=atexit_sleep_ms=0"},
	}
}

var fakeNeed = need{1, "it is a fake"}

// experiment returns an experiment with runs of the fake.
func experiment(id string, runs ...string) *Experiment {
	return &Experiment{
		ID: id, Place: "nowhere", About: "nothing <at all>",
		plan: func(p *Plan) {
			for _, r := range runs {
				p.run(time.Second, "%s", r)
			}
		},
		figures: func(d *Data) []*Figure {
			return []*Figure{chart{
				file: fileName(id), title: "Nothing", x: "n", xLabel: "n", y: "ns/op", yLabel: "ns",
				series: "workload",
			}.lines(d)}
		},
		columns: []string{"workload", "circuit"},
		metrics: []metric{{"ns/op", "ns", 1}, {"gates", "gates", 1}, {"queue-steals", "steals", 1}},
		claims: []*Claim{
			{ID: id + " small", Place: "here", Says: "It takes at most 100 ns.", needs: fakeNeed,
				judge: func(d *Data) Verdict {
					return verdict(d.median("ns/op", "workload=fast") <= 100, "%s", d.each("workload", "ns/op", 1))
				}},
			{ID: id + " slow", Place: "there", Says: "Slow is slow.", needs: fakeNeed, judge: func(d *Data) Verdict {
				return verdict(d.median("ns/op", "workload=slow") > 0, "%g", d.median("ns/op", "workload=slow"))
			}},
		},
	}
}
