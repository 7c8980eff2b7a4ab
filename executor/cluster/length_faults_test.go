//go:build unix

package cluster_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A fault breaks something, and repairs it before it returns. ctx ends when the graphs of the plan are done: what lasts
// is then over sooner.
type fault func(ctx context.Context, b *battle)

func workerKilled(ctx context.Context, b *battle) {
	p := b.worker()
	p.kill()
	sleep(ctx, b.upTo(lease))
	p.start()
}

// workerUpgraded: a worker is asked to end, and another comes for it.
func workerUpgraded(ctx context.Context, b *battle) {
	p := b.worker()
	p.stop()
	sleep(ctx, b.upTo(lease/4))
	p.start()
}

func allWorkersKilled(ctx context.Context, b *battle) {
	for _, p := range b.workers {
		p.kill()
	}
	sleep(ctx, lease+b.upTo(lease))
	for _, p := range b.workers {
		p.start()
	}
}

// workerSlow: a worker hangs past its lease.
func workerSlow(ctx context.Context, b *battle) { b.worker().hang(ctx, lease+b.upTo(2*lease)) }

// workerCutOff: the network of a worker is gone for longer than its lease.
func workerCutOff(ctx context.Context, b *battle) {
	nets := b.nets[b.rnd.IntN(len(b.workers))]
	for _, p := range nets {
		p.freeze(true)
	}
	sleep(ctx, lease+b.upTo(2*lease))
	for _, p := range nets {
		p.freeze(false)
	}
}

// cuts: connections are cut, with what is on its way in both directions.
func cuts(_ context.Context, b *battle) {
	for _, nets := range b.nets {
		for _, p := range nets {
			p.cut(0.3)
		}
	}
}

func serverKilled(ctx context.Context, b *battle) { b.again(ctx, b.server()) }

func leaderKilled(ctx context.Context, b *battle) { b.again(ctx, b.leader(ctx)) }

// oneThenLeader: one server is killed, and then the leader, so that one is left until they come again.
func oneThenLeader(ctx context.Context, b *battle) {
	one := b.server()
	one.kill()
	sleep(ctx, b.upTo(4*time.Second))
	leader := b.leader(ctx)
	leader.kill()
	sleep(ctx, b.upTo(2*time.Second))
	one.start()
	if leader != one {
		leader.start()
	}
}

func allServersKilled(ctx context.Context, b *battle) {
	for _, p := range b.servers {
		p.send(os.Kill)
	}
	for _, p := range b.servers {
		p.kill() // waits for its end
	}
	sleep(ctx, b.upTo(2*time.Second))
	for _, p := range b.servers {
		p.start()
	}
}

// serverHangs: the leader does not answer for some time, and then goes on as if nothing had been.
func serverHangs(ctx context.Context, b *battle) { b.leader(ctx).hang(ctx, b.upTo(6*time.Second)) }

// again kills a server and starts it again.
func (b *battle) again(ctx context.Context, p *process) {
	p.kill()
	sleep(ctx, b.upTo(2*time.Second))
	p.start()
}

// storeLost: one server comes back without its store.
func storeLost(ctx context.Context, b *battle) {
	p := b.server()
	p.kill()
	b.remove(p)
	sleep(ctx, b.upTo(time.Second))
	p.start()
}

// storeDamaged: files with messages of the queue are damaged.
func storeDamaged(ctx context.Context, b *battle) {
	b.damaged(ctx, func(path string) bool {
		return strings.HasSuffix(path, ".blk") && strings.Contains(path, b.queue.Name)
	})
}

// filesDamaged: files of all kinds are damaged, but for those with which no server starts: messages and their index,
// what consumers have delivered, how consumers are stored, and the logs, snapshots and votes of the groups that
// replicate all these, and the list of streams and consumers. A server that starts with them leaves out what it cannot
// read, and does not mend it. So it goes on for some time, and then gets a new store, before another server has the
// fault: of consumers that two of three have left out there is no quorum.
func filesDamaged(ctx context.Context, b *battle) {
	p := b.damaged(ctx, func(path string) bool { return !vital(path) })
	if p == nil {
		return
	}
	sleep(ctx, 2*time.Second+b.upTo(6*time.Second))
	p.kill()
	b.remove(p)
	p.start()
}

// vital reports whether a server does not start if a file is damaged: that of the lock, and what says how a stream is
// stored, with its checksum. The store is then removed, and the fault is that of the plan of a lost store.
func vital(path string) bool {
	dir, name := filepath.Split(path)
	isMeta := strings.HasPrefix(name, "meta.") && filepath.Base(filepath.Dir(filepath.Clean(dir))) == "streams"
	return isMeta || name == "magpie.lock"
}

// damaged damages half of some files of one server while it is down, and returns the server. If it then refuses to
// start, its store is removed, as a person would, and damaged returns nil. The log has how many files of which kinds
// were damaged.
func (b *battle) damaged(ctx context.Context, is func(path string) bool) *process {
	p := b.server()
	p.kill()
	kinds := map[string]int{}
	_ = filepath.WalkDir(p.fields.(*serverPart).Dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && is(path) && b.rnd.IntN(2) == 0 {
			b.damage(path)
			kinds[strings.TrimLeft(d.Name(), "0123456789")]++ // files with messages have numbers as names
		}
		return nil
	})
	p.start()
	b.t.Logf("damaged files of %s: %v", p.name, kinds)
	for range 20 {
		if !p.alive() {
			b.t.Logf("it does not start with its store, and gets a new one: %s", p.last())
			b.remove(p)
			p.start()
			return nil
		}
		sleep(context.WithoutCancel(ctx), 100*time.Millisecond)
	}
	return p
}

// damage cuts off the end of a file, or flips bits of some bytes.
func (b *battle) damage(path string) {
	data, err := os.ReadFile(path)
	if err != nil || len(data) == 0 {
		return
	}
	if b.rnd.IntN(2) == 0 {
		data = data[:b.rnd.IntN(len(data))]
	} else {
		for range 8 {
			data[b.rnd.IntN(len(data))] ^= byte(1 + b.rnd.IntN(255))
		}
	}
	_ = os.WriteFile(path, data, 0o600) // the next start says what is wrong
}

// diskFull: the disk of the server is full for some time. The server then ends its JetStream, and is started again when
// there is room.
func diskFull(ctx context.Context, b *battle) {
	path := filepath.Join(b.dir, "filler")
	file, err := os.Create(path)
	if err != nil {
		b.t.Error(err)
		return
	}
	block := make([]byte, 64<<10)
	for err == nil {
		_, err = file.Write(block)
	}
	sleep(ctx, 2*time.Second+b.upTo(4*time.Second))
	file.Close()
	if err := os.Remove(path); err != nil {
		b.t.Error(err)
	}
	b.again(ctx, b.server())
}

// mixed is one of some faults.
func mixed(faults ...fault) fault {
	return func(ctx context.Context, b *battle) { faults[b.rnd.IntN(len(faults))](ctx, b) }
}
