//go:build unix

package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/executor/cluster"
	"github.com/magpie-go/magpie/executor/cluster/internal/clustertest"
	"github.com/magpie-go/magpie/internal/testkit"
)

// A lengthPlan is what goes wrong while random graphs run on worker processes and servers that are processes.
type lengthPlan struct {
	name    string
	servers int
	fault   fault         // nil: none
	every   time.Duration // between faults, about

	sync    bool // the servers sync each write
	disk    bool // the store is on a small disk
	harsh   bool // servers may lose what they have acknowledged: runs may be lost, but never have wrong results
	worker  workerPart
	mortal  bool          // workers kill themselves, and are started again
	limit   time.Duration // the deadline of runs; 0: none
	options func(seed uint64) clustertest.Options
	submit  func(ctx context.Context, b *battle, r *clustertest.Random, seed uint64, id string) (*cluster.Handle, error)
	during  func(ctx context.Context, b *battle, h *cluster.Handle)
	ends    []cluster.Reason // how runs may end, beside with results
}

const often, seldom, quorum = time.Second, 4 * time.Second, 12 * time.Second

var lengthPlans = []lengthPlan{
	{name: "all faults of one server", servers: 1, every: often, fault: mixed(workerKilled, workerSlow, workerCutOff, cuts,
		serverKilled)},

	{name: "calm", servers: 1},
	{name: "workers killed", servers: 1, every: often, fault: workerKilled},
	{name: "workers upgraded", servers: 1, every: often, fault: workerUpgraded},
	{name: "all workers killed", servers: 1, every: seldom, fault: allWorkersKilled},
	{name: "slow workers", servers: 1, every: often, fault: workerSlow},
	{name: "workers cut off", servers: 1, every: often, fault: workerCutOff},
	{name: "connections cut", servers: 1, every: often, fault: cuts},
	{name: "doubles and lost acks", servers: 1, every: often, fault: cuts, worker: workerPart{Doubles: true}},
	{name: "server killed", servers: 1, every: seldom, fault: serverKilled},
	{name: "server killed, each write synced", servers: 1, sync: true, every: seldom, fault: serverKilled},
	{name: "server hangs", servers: 1, every: seldom, fault: serverHangs},
	{name: "full disk", servers: 1, disk: true, every: seldom, fault: diskFull},
	{name: "full disk, each write synced", servers: 1, disk: true, sync: true, every: seldom, fault: diskFull},
	{name: "clocks that differ", servers: 1, every: often, fault: mixed(workerKilled, workerSlow, cuts, serverKilled),
		worker: workerPart{Skewed: true}, limit: skewedDeadline},
	{name: "large values", servers: 1, every: often, fault: mixed(workerKilled, cuts, serverKilled),
		options: func(uint64) clustertest.Options { return clustertest.Options{Bytes: 1 << 20} }},
	{name: "poison", servers: 1, mortal: true, worker: workerPart{Slots: 1},
		options: func(seed uint64) clustertest.Options {
			if seed%8 == 0 {
				return clustertest.Options{Poison: 1, Tasks: 8, Plain: true}
			}
			return clustertest.Options{}
		},
		ends: []cluster.Reason{cluster.Poison}},
	{name: "functions fail", servers: 1, every: often, fault: mixed(workerKilled, cuts),
		options: func(seed uint64) clustertest.Options {
			return clustertest.Options{Fail: int(seed % 3 / 2), Flaky: int(seed % 3 % 2 * 2), Plain: true}
		},
		ends: []cluster.Reason{cluster.Failed}},
	{name: "cancel storm", servers: 1, every: often, fault: mixed(workerKilled, cuts), during: cancelled,
		ends: []cluster.Reason{cluster.Cancelled}},
	{name: "submitters killed", servers: 1, every: often, fault: cuts, submit: killedSubmitter},
	{name: "resumed without need", servers: 1, every: often, fault: mixed(workerKilled, cuts), during: resumed},

	{name: "one of three killed", servers: 3, every: quorum, fault: serverKilled},
	{name: "leader of three killed", servers: 3, every: quorum, fault: leaderKilled},
	{name: "one of three, then the leader", servers: 3, every: quorum, fault: oneThenLeader},
	{name: "all three killed", servers: 3, every: quorum, fault: allServersKilled},
	{name: "all three killed, each write synced", servers: 3, sync: true, every: quorum, fault: allServersKilled},
	{name: "leader of three hangs", servers: 3, every: quorum, fault: serverHangs},
	{name: "three, and workers and connections", servers: 3, every: seldom, fault: mixed(workerKilled, workerSlow,
		workerCutOff, cuts, leaderKilled)},
	{name: "store of one of three lost", servers: 3, harsh: true, every: quorum, fault: storeLost, during: resumed},
	{name: "store of one of three damaged", servers: 3, harsh: true, every: quorum, fault: storeDamaged, during: resumed},
	{name: "any file of one of three damaged", servers: 3, harsh: true, every: quorum, fault: filesDamaged,
		during: resumed},
}

// cancelled cancels a run from three sides.
func cancelled(ctx context.Context, _ *battle, h *cluster.Handle) {
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if sleep(ctx, rand.N(16*time.Second)) { // so that many runs end before, and many not
				_ = h.Cancel(ctx, errors.New("the storm")) // it fails where a connection is cut
			}
		})
	}
	wg.Wait()
}

// resumed resumes a run again and again.
func resumed(ctx context.Context, _ *battle, h *cluster.Handle) {
	for pause := 200 * time.Millisecond; sleep(ctx, pause); pause = min(2*pause, 10*time.Second) {
		_, _ = h.Resume(ctx) // it fails while the run has not begun
	}
}

// killedSubmitter has a process submit the graph, and kills it before, in or after that. Another attaches to the run,
// or submits it again.
func killedSubmitter(ctx context.Context, b *battle, r *clustertest.Random, seed uint64, id string) (
	*cluster.Handle, error) {
	p := newProcess(b.t, b.t.TempDir(), "submitter", "submitter", &submitterPart{URLs: b.urls(battleWorkers),
		Queue: b.queue, Seed: seed, ID: id})
	sleep(ctx, rand.N(time.Second))
	p.kill()
	h, err := b.client.Attach(ctx, id)
	if errors.Is(err, cluster.ErrUnknownRun) {
		h, err = b.client.Submit(ctx, r.Graph, cluster.Submission{ID: id})
	}
	return h, err
}

// leastFaults is how many faults a plan has at least.
const leastFaults = 5

// TestFaultsAtLength: random graphs have the results of local runs whatever of lengthPlans goes wrong with the processes
// that run them, with their servers, and between them. All plans take hours, and need MAGPIE_TESTS=long and -timeout 0.
func TestFaultsAtLength(t *testing.T) {
	t.Parallel()
	seed := testkit.Seed(t)
	long := isAtLength(t)
	plans, graphs, least := lengthPlans[:1], 8, 3
	if long {
		plans, graphs, least = lengthPlans, testkit.Count(t, 1000), leastFaults
	}
	fields := map[string]*field{}
	for i, p := range plans {
		t.Run(p.name, func(t2 *testing.T) {
			testkit.Seed(t2) // logs the command that repeats this plan
			key := fmt.Sprint(p.servers, p.sync)
			f := fields[key]
			switch {
			case p.disk || p.harsh:
				f = p.newField(t2)
			case f == nil:
				f = p.newField(t)
				fields[key] = f
			}
			p.run(t2, f, fmt.Sprint("q", i), seed, graphs, least)
		})
	}
	if long {
		for _, f := range fields {
			f.cleaned()
		}
	}
}

// TestFaultsOfOnePlan is TestFaultsAtLength for one plan, which the seed says: seeds that follow each other have all
// plans in turn.
func TestFaultsOfOnePlan(t *testing.T) {
	t.Parallel()
	if !isAtLength(t) {
		t.Skip("MAGPIE_TESTS=long, with -timeout 0, runs it: it takes minutes")
	}
	seed := testkit.Seed(t)
	p := lengthPlans[seed%uint64(len(lengthPlans))]
	graphs := testkit.Count(t, 1000)
	t.Logf("the plan %q", p.name)
	p.run(t, p.newField(t), "q", seed, graphs, leastFaults)
}

// isAtLength reports whether tests may take hours.
func isAtLength(t *testing.T) bool {
	_, hurried := t.Deadline()
	return !testkit.Quick() && !hurried
}

// newField starts the servers of the plan.
func (p *lengthPlan) newField(t *testing.T) *field {
	t.Helper()
	dir := t.TempDir()
	if p.disk {
		dir = smallDisk(t)
	}
	return newField(t, dir, p.servers, p.sync)
}

// smallDisk returns a directory on a disk of its own that is small, if this process may mount one.
func smallDisk(t *testing.T) string {
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Logf("%s", out)
		t.Skipf("a small disk cannot be mounted: %v", err)
	}
	t.Cleanup(func() { require.NoError(t, exec.Command("umount", "-l", dir).Run()) })
	return dir
}

// atOnce returns how many graphs run at the same time: two for each slot of the workers, so that each fault meets many,
// and none waits long for others.
func (w *workerPart) atOnce() int { return 2 * battleWorkers * w.Slots }

// run runs as many graphs, and more until there were as many faults at least.
func (p *lengthPlan) run(t *testing.T, f *field, queue string, seed uint64, graphs, least int) {
	worker := p.worker
	worker.Slow = 20 * time.Millisecond
	if worker.Slots == 0 {
		worker.Slots = 8
	}
	b := newBattle(t, f, queue, seed, worker)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	atOnce := min(worker.atOnce(), graphs)
	c := newTally()
	g := newGuard(c, atOnce)
	var beside, runs sync.WaitGroup
	if p.fault == nil {
		least = 0
	} else {
		beside.Go(func() {
			for ended := 0; sleep(ctx, p.every/2+b.upTo(p.every)); {
				// After a fault some graphs end before the next one, also on a slow machine.
				if c.graphsOver() < ended+atOnce/8 {
					continue
				}
				over := c.fault()
				p.fault(ctx, b)
				over()
				ended = c.graphsOver()
			}
		})
	}
	if p.mortal {
		beside.Go(func() {
			for sleep(ctx, 50*time.Millisecond) {
				for range b.startEnded() {
					c.fault()()
				}
			}
		})
	}
	beside.Go(func() {
		for sleep(ctx, 10*time.Second) {
			t.Log(c)
		}
	})
	beside.Go(func() {
		for sleep(ctx, lookEvery) {
			runs, _ := b.client.Runs(ctx) // none, while the servers fail
			g.look(runs)
		}
	})
	var next atomic.Int64
	for range atOnce {
		runs.Go(func() {
			for !t.Failed() {
				i := next.Add(1) - 1
				if i >= int64(graphs) && c.faultsOver() >= least {
					return
				}
				if wrong := p.one(ctx, b, seed+uint64(i), c, g); wrong != "" {
					t.Errorf("graph %d, seed %d: %s", i, seed+uint64(i), wrong)
				}
			}
		})
	}
	runs.Wait()
	cancel()
	beside.Wait()
	b.startEnded()
	if t.Failed() {
		t.Log(b.tails())
	}
	t.Log(c)
	t.Log(g)
	p.settled(t, b, c)
	if p.fault != nil {
		// The last fault may come when the last graph has ended.
		require.LessOrEqual(t, c.vain, 1, "faults that no graph has met")
	}
	if graphs >= 100 {
		for _, end := range p.ends {
			require.NotZero(t, c.ends[end], "graphs that have ended so: %s", end)
		}
	}
	testkit.Proved(t, min(graphs, c.done), "random graphs on processes with faults")
	if c.faults > 0 {
		testkit.Proved(t, c.faults, "faults beside random graphs on processes")
		testkit.Proved(t, min(graphs, c.met), "random graphs on processes that met a fault")
	}
}

// settled waits until the work of a queue is done, and checks that nothing was given up that need not be.
func (p *lengthPlan) settled(t *testing.T, b *battle, c *tally) {
	const pause = 100 * time.Millisecond
	for least, looks := uint64(math.MaxUint64), 0; least > 0; looks++ {
		open, err := b.open(t.Context())
		switch {
		case err == nil && open < least:
			least, looks = open, 0
		case looks > stuck*int(lookEvery/pause):
			t.Errorf("%d messages are open, and have not become fewer in %d looks: %v\n%s", open, looks, err, b.tails())
			return
		}
		sleep(t.Context(), pause)
	}
	backlog, err := b.client.Backlog(t.Context())
	require.NoError(t, err)
	if !p.harsh {
		require.EqualValues(t, c.ends[cluster.Poison], backlog.Dead, "dead letters")
	}
	if backlog.Waiting > 0 {
		t.Logf("%d messages that were acknowledged are kept until they are too old", backlog.Waiting)
	}
}

// one runs a graph. It returns what is wrong, or "".
func (p *lengthPlan) one(ctx context.Context, b *battle, seed uint64, c *tally, g *guard) (wrong string) {
	var o clustertest.Options
	if p.options != nil {
		o = p.options(seed)
	}
	r := b.Random(seed, o)
	var want []string
	local, failed := cluster.Run(ctx, b.ex, b.Registry, r.Graph)
	if failed == nil {
		var err error
		if want, err = r.Results(local); err != nil {
			return err.Error()
		}
	}
	var end cluster.Reason // "": it is done
	over := c.graph()
	defer func() { over(end) }()
	id := fmt.Sprint("s", seed)
	limit, done := g.run(ctx, id)
	defer done()
	h, err := p.submitted(limit, b, r, seed, id)
	if err != nil {
		return "it was not submitted: " + err.Error() + "\n" + b.tails()
	}
	var beside sync.WaitGroup
	during, stop := context.WithCancel(limit)
	if p.during != nil {
		beside.Go(func() { p.during(during, b, h) })
	}
	got, err := waited(limit, r, h)
	stop()
	beside.Wait()
	var ended *cluster.RunError
	switch {
	case err == nil && failed != nil:
		return fmt.Sprintf("it has results, and the local run failed: %v", failed)
	case err == nil && !slices.Equal(got, want):
		return fmt.Sprintf("its results are wrong: %v, instead of %v", got, want)
	case err == nil:
		return ""
	case !errors.As(err, &ended):
		return fmt.Sprintf("it is stuck: %v\n%s", err, b.state(h))
	}
	end = ended.Reason
	may := slices.Contains(p.ends, end)
	switch end {
	case cluster.Poison:
		may = may && o.Poison > 0
	case cluster.Failed:
		may = may && failed != nil
	}
	if may || p.harsh && slices.Contains(lost, end) {
		return ""
	}
	return fmt.Sprintf("it has ended as %s: %v\n%s", end, err, b.state(h))
}

// lost is how runs end of which the servers have lost something.
var lost = []cluster.Reason{cluster.Lost, cluster.Gone, cluster.Corrupt}

// submitted submits a graph, again and again with the same ID until that has no error.
func (p *lengthPlan) submitted(ctx context.Context, b *battle, r *clustertest.Random, seed uint64, id string) (
	h *cluster.Handle, err error) {
	for {
		if p.submit != nil {
			h, err = p.submit(ctx, b, r, seed, id)
		} else {
			h, err = b.client.Submit(ctx, r.Graph, cluster.Submission{ID: id, Deadline: p.limit})
		}
		if err == nil || !sleep(ctx, 100*time.Millisecond) {
			return h, err
		}
	}
}

// waited returns the results of a run, however often the servers fail meanwhile.
func waited(ctx context.Context, r *clustertest.Random, h *cluster.Handle) (got []string, err error) {
	for {
		res, err := h.Wait(ctx)
		if err == nil {
			if got, err = r.Results(res); err == nil {
				return got, nil
			}
		}
		if errors.As(err, new(*cluster.RunError)) || !sleep(ctx, 100*time.Millisecond) {
			return nil, err
		}
	}
}
