package executor_test

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/host"
	"github.com/magpie-go/magpie/internal/cgroup"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// A QuotaShare and a Share together: the smaller bound holds.
func TestHostShareAndShare(t *testing.T) {
	tab := newTable(t, 4)
	both := tab.share()
	both.QuotaShare = 0.5
	ex, _ := newQuotaExecutor(t, executor.Config{Workers: 4, Host: host.Options{Share: both}}, 2000)
	untilShared(t, ex, func(s host.ShareStats) bool { return s.Desire == 4 && s.Allotment == 4 })
	fits(t, 1.7, func() duty { return keepBusy(t, ex, busyTime()) }) // as in TestHostShare
}

const inGroup = "MAGPIE_TEST_IN_GROUP"

// Under a quota of the kernel, a process with a QuotaShare is throttled in few periods, and so is one with several
// executors. The test runs itself in a group with a quota of half a CPU.
func TestHostShareInGroup(t *testing.T) {
	if shares := os.Getenv(inGroup); shares != "" {
		beBusyInGroup(t, strings.Fields(shares))
		return
	}
	t.Parallel() // it waits for processes that may use half a processor
	throttled := func(shares string) float64 {
		g, err := cgroup.Create(fmt.Sprintf("magpie-test-%d", os.Getpid()), 0.5)
		if err != nil {
			t.Skip("a group with a quota cannot be made here:", err)
		}
		defer func() { require.NoError(t, g.Remove()) }()
		cmd := exec.Command("sh", "-c", `read -r go && exec "$0" -test.run='^TestHostShareInGroup$'`, os.Args[0])
		cmd.Env = append(os.Environ(), inGroup+"="+shares)
		in, err := cmd.StdinPipe()
		require.NoError(t, err)
		var out strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &out
		require.NoError(t, cmd.Start())
		require.NoError(t, g.Add(cmd.Process.Pid))
		_, err = in.Write([]byte("go\n"))
		require.NoError(t, err)
		require.NoError(t, cmd.Wait(), "%s", &out)
		var n, periods float64
		_, err = fmt.Sscanf(out.String()[strings.Index(out.String(), "throttled"):], "throttled %f %f", &n, &periods)
		require.NoError(t, err, "%s", &out)
		return n / periods
	}
	// On a busy machine the manager may come late, or other processes leave less than the quota.
	testkit.Fits(t, func() (wrong string) {
		without, with, three := throttled("0"), throttled("0.3"), throttled("0.3 0.3 0.3")
		told := fmt.Sprintf("throttled in %.0f%% of the periods without a QuotaShare, in %.0f%% with one, in %.0f%% with "+
			"three executors", 100*without, 100*with, 100*three)
		t.Log(told)
		if without <= 0.5 || max(with, three) < without/2 {
			return ""
		}
		return told
	})
}

// beBusyInGroup keeps an executor busy for each of the shares, and prints how often the process was throttled once they
// have settled.
func beBusyInGroup(t *testing.T, shares []string) {
	var all sync.WaitGroup
	var stop atomic.Bool
	for _, share := range shares {
		part, err := strconv.ParseFloat(share, 64)
		require.NoError(t, err)
		ex := newExecutor(t, executor.Config{Workers: 2, Host: host.Options{Share: host.QuotaShare(part)}})
		all.Go(func() {
			for !stop.Load() {
				if _, err := executor.Call(t.Context(), ex, forkFib, 20); err != nil {
					t.Error(err)
				}
			}
		})
	}
	read := func() cgroup.State {
		s, err := cgroup.Read()
		require.NoError(t, err)
		return s
	}
	after := func(periods uint64, since cgroup.State) (now cgroup.State) {
		for now = read(); now.Periods < since.Periods+periods; now = read() {
			time.Sleep(10 * time.Millisecond)
		}
		return now
	}
	begun := after(5, read())
	ended := after(10, begun)
	stop.Store(true)
	all.Wait()
	fmt.Printf("throttled %d %d\n", ended.Throttled-begun.Throttled, ended.Periods-begun.Periods)
}
