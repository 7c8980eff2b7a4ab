// Package clustertest has functions and random graphs for tests. The result of each function depends on all of its
// inputs and on nothing else, so that two runs of a graph are right if they agree, and wrong if one value is lost, is
// another's or is of another run. The oracle is [cluster.Run] on a local executor.
package clustertest

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/fnv"
	"sync"
	"time"

	"github.com/magpie-go/magpie/executor/cluster"
)

// A Text is a result that is larger than a number, and of another type.
type Text struct {
	Sum uint64
	Pad []byte `json:",omitempty"`
}

// ErrFail is the error of the function that fails.
var ErrFail = errors.New("it is to fail")

// Functions are a registry with the functions of random graphs.
type Functions struct {
	Registry *cluster.Registry

	// Each, if it is not nil, is called at the beginning of each call, and its error is that of the call. It is set
	// before the functions are called.
	Each func(context.Context, cluster.Info) error
	// Poison, if it is not nil, is called by the calls of Options.Poison. It may end the worker.
	Poison func(context.Context)

	leaf   cluster.Func0[uint64]
	mix    cluster.Func[uint64, uint64]
	mix2   cluster.Func2[uint64, Text, uint64]
	mix3   cluster.Func3[uint64, Text, uint64, uint64]
	all    cluster.FuncAll[uint64, uint64]
	text   cluster.Func2[uint64, int, Text]
	mod    cluster.Func2[uint64, int, int]
	sub    cluster.Func[uint64, uint64]
	fail   cluster.Func[uint64, uint64]
	panics cluster.Func[uint64, uint64]
	flaky  cluster.Func[uint64, uint64]
	slow   cluster.Func2[uint64, time.Duration, uint64]
	poison cluster.Func[uint64, uint64]

	mu    sync.Mutex
	tries map[string]bool // keys of calls of flaky that have failed once
}

// NewFunctions registers the functions in a registry of their own.
func NewFunctions() *Functions {
	reg := cluster.NewRegistry()
	f := &Functions{Registry: reg, tries: map[string]bool{}}
	f.leaf = cluster.Register0(reg, "leaf", func(ctx context.Context) (uint64, error) { return f.hash(ctx, "leaf") })
	f.mix = cluster.Register(reg, "mix", func(ctx context.Context, a uint64) (uint64, error) {
		return f.hash(ctx, "mix", a)
	})
	f.mix2 = cluster.Register2(reg, "mix2", func(ctx context.Context, a uint64, b Text) (uint64, error) {
		return f.hash(ctx, "mix2", a, b.fold())
	})
	f.mix3 = cluster.Register3(reg, "mix3", func(ctx context.Context, a uint64, b Text, c uint64) (uint64, error) {
		return f.hash(ctx, "mix3", a, b.fold(), c)
	})
	f.all = cluster.RegisterAll(reg, "all", func(ctx context.Context, all []uint64) (uint64, error) {
		return f.hash(ctx, "all", all...)
	})
	f.text = cluster.Register2(reg, "text", func(ctx context.Context, a uint64, size int) (Text, error) {
		sum, err := f.hash(ctx, "text", a, uint64(size))
		t := Text{Sum: sum, Pad: make([]byte, size)}
		for i := range t.Pad {
			sum = mixed(sum + uint64(i))
			t.Pad[i] = byte(sum)
		}
		return t, err
	})
	f.mod = cluster.Register2(reg, "mod", func(ctx context.Context, a uint64, n int) (int, error) {
		h, err := f.hash(ctx, "mod", a)
		return int(h % uint64(n)), err
	})
	f.sub = cluster.RegisterSub(reg, "sub", f.spawn)
	f.fail = cluster.Register(reg, "fail", func(ctx context.Context, a uint64) (uint64, error) {
		_, err := f.hash(ctx, "fail", a)
		return 0, errors.Join(err, ErrFail)
	})
	f.panics = cluster.Register(reg, "panic", func(context.Context, uint64) (uint64, error) { panic("it is to panic") })
	f.flaky = cluster.Register(reg, "flaky", func(ctx context.Context, a uint64) (uint64, error) {
		if f.first(cluster.Key(ctx)) {
			return 0, errors.New("the first attempt fails")
		}
		return f.hash(ctx, "flaky", a)
	})
	f.slow = cluster.Register2(reg, "slow", func(ctx context.Context, a uint64, d time.Duration) (uint64, error) {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
		return f.hash(ctx, "slow", a)
	})
	f.poison = cluster.Register(reg, "poison", func(ctx context.Context, a uint64) (uint64, error) {
		if f.Poison != nil {
			f.Poison(ctx)
		}
		return f.hash(ctx, "poison", a)
	})
	return f
}

// spawn adds a chain with some branches.
func (f *Functions) spawn(ctx context.Context, sub *cluster.Graph, a uint64) (cluster.Arg[uint64], error) {
	h, err := f.hash(ctx, "sub", a)
	all := []cluster.Arg[uint64]{cluster.Value(h)}
	for h%5 != 0 {
		all = append(all, f.mix.Call(sub, all[h%uint64(len(all))]))
		h /= 5
	}
	return f.all.Call(sub, all...), err
}

// first reports whether it is called with the key for the first time.
func (f *Functions) first(key string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	first := !f.tries[key]
	f.tries[key] = true
	return first
}

// hash returns a hash of a function's name and inputs.
func (f *Functions) hash(ctx context.Context, name string, in ...uint64) (uint64, error) {
	if f.Each != nil {
		info, _ := cluster.InfoFrom(ctx)
		if err := f.Each(ctx, info); err != nil {
			return 0, err
		}
	}
	h := fnv.New64a()
	h.Write([]byte(name))
	for _, n := range in {
		h.Write(binary.LittleEndian.AppendUint64(nil, n))
	}
	return mixed(h.Sum64()), nil
}

// fold returns a hash of t.
func (t Text) fold() uint64 {
	h := fnv.New64a()
	h.Write(t.Pad)
	return mixed(h.Sum64() ^ t.Sum)
}

// mixed spreads the bits of h.
func mixed(h uint64) uint64 {
	h ^= h >> 30
	h *= 0xbf58476d1ce4e5b9
	h ^= h >> 27
	h *= 0x94d049bb133111eb
	return h ^ h>>31
}
