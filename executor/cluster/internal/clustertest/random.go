package clustertest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/magpie-go/magpie/executor/cluster"
)

// Options say what random graphs are like.
type Options struct {
	Tasks int // about how many calls; 0 means a random number, to 40
	// Bytes is the largest size of a result. 0 means 64.
	Bytes int
	// Plain leaves out all that not every run of a graph needs: choices, semaphores, keys, graphs of calls.
	Plain bool

	Fail   int           // how many calls fail
	Panic  int           // how many panic
	Flaky  int           // how many fail once for each key, and have a retry
	Poison int           // how many call Functions.Poison
	Slow   int           // how many take Options.Sleep
	Sleep  time.Duration // 0 means a millisecond
}

// A Random is a random graph.
type Random struct {
	Graph *cluster.Graph
	ends  []func(*cluster.Results) (string, error)
}

// Results returns the results of all calls that are kept, to be compared with those of another run. A call that did not
// run has the result "absent".
func (g *Random) Results(res *cluster.Results) (all []string, err error) {
	for _, end := range g.ends {
		s, err := end(res)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// A drawing is a random graph that grows.
type drawing struct {
	*rand.Rand
	*Functions
	o       Options
	g       *cluster.Graph
	numbers []cluster.Call[uint64]
	texts   []cluster.Call[Text]
	earlier []cluster.AnyCall
	sems    []cluster.Semaphore
	ends    []func(*cluster.Results) (string, error)
}

// Random returns a graph that depends on the seed and the options only.
func (f *Functions) Random(seed uint64, o Options) *Random {
	d := &drawing{Rand: rand.New(rand.NewPCG(seed, 37)), Functions: f, o: o}
	d.g = cluster.NewGraph(fmt.Sprintf("random %d", seed))
	if d.o.Tasks == 0 {
		d.o.Tasks = 1 + d.IntN(40)
	}
	if d.o.Bytes == 0 {
		d.o.Bytes = 64
	}
	if d.o.Sleep == 0 {
		d.o.Sleep = time.Millisecond
	}
	if !d.o.Plain {
		for i := range d.IntN(3) {
			d.sems = append(d.sems, d.g.Semaphore(fmt.Sprint("s", i), 1+d.IntN(3)))
		}
	}
	special := d.special()
	for d.g.Len() < d.o.Tasks {
		if d.IntN(d.o.Tasks-d.g.Len()) < len(special) {
			special[0]()
			special = special[1:]
			continue
		}
		d.ordinary()
	}
	for _, add := range special {
		add()
	}
	return &Random{Graph: d.g, ends: d.ends}
}

// special returns what adds the calls that go wrong, in a random order.
func (d *drawing) special() (all []func()) {
	add := func(n int, one func()) {
		for range n {
			all = append(all, one)
		}
	}
	add(d.o.Fail, func() { number(d, d.fail.Call(d.g, d.number())) })
	add(d.o.Panic, func() { number(d, d.panics.Call(d.g, d.number())) })
	add(d.o.Flaky, func() { number(d, d.flaky.Call(d.g, d.number()).Retries(1)) })
	add(d.o.Poison, func() { number(d, d.poison.Call(d.g, d.number())) })
	add(d.o.Slow, func() { number(d, d.slow.Call(d.g, d.number(), cluster.Value(d.o.Sleep))) })
	d.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// ordinary adds a call, or a few.
func (d *drawing) ordinary() {
	kinds := 7
	if !d.o.Plain {
		kinds = 9
	}
	switch d.IntN(kinds) {
	case 0:
		number(d, d.leaf.Call(d.g))
	case 1, 2:
		number(d, d.mix.Call(d.g, d.number()))
	case 3:
		number(d, d.mix2.Call(d.g, d.number(), d.text()))
	case 4:
		number(d, d.mix3.Call(d.g, d.number(), d.text(), d.number()))
	case 5:
		all := make([]cluster.Arg[uint64], d.IntN(6))
		for i := range all {
			all[i] = d.number()
		}
		number(d, d.all.Call(d.g, all...))
	case 6:
		t := say(d, d.Functions.text.Call(d.g, d.number(), cluster.Value(d.IntN(d.o.Bytes+1))))
		d.texts = append(d.texts, t)
	case 7:
		number(d, d.sub.Call(d.g, d.number()))
	case 8:
		d.choice()
	}
}

// choice adds a call that chooses among some others, and one after them.
func (d *drawing) choice() {
	n := 1 + d.IntN(3)
	which := say(d, d.mod.Call(d.g, d.number(), cluster.Value(n+d.IntN(2))))
	var arms []cluster.Arg[uint64]
	var among []cluster.AnyCall
	before := len(d.numbers)
	for range n {
		arm := d.mix.Call(d.g, d.number())
		number(d, arm)
		arms, among = append(arms, arm), append(among, arm)
		d.numbers = d.numbers[:before] // so that no arm takes another's result
	}
	cluster.Choose(which, among...)
	join := d.all.Call(d.g, arms...)
	if d.IntN(3) > 0 {
		join = join.AnyOf()
	}
	number(d, join)
}

// number returns a number that another call makes, most often, or a value.
func (d *drawing) number() cluster.Arg[uint64] {
	if len(d.numbers) == 0 || d.IntN(8) == 0 {
		return cluster.Value(d.Uint64())
	}
	return d.numbers[d.recent(len(d.numbers))]
}

func (d *drawing) text() cluster.Arg[Text] {
	if len(d.texts) == 0 || d.IntN(8) == 0 {
		return cluster.Value(Text{Sum: d.Uint64()})
	}
	return d.texts[d.recent(len(d.texts))]
}

// recent returns a number below n, which is more often one of the last.
func (d *drawing) recent(n int) int {
	if d.IntN(2) == 0 {
		return d.IntN(n)
	}
	return n - 1 - d.IntN(min(n, 4))
}

// number notes a call whose result others may take.
func number(d *drawing, c cluster.Call[uint64]) { d.numbers = append(d.numbers, say(d, c)) }

// say says something of a call, by chance, and notes it.
func say[T any](d *drawing, c cluster.Call[T]) cluster.Call[T] {
	if d.IntN(4) == 0 && len(d.earlier) > 0 {
		c = c.After(d.earlier[d.IntN(len(d.earlier))])
	}
	if d.IntN(3) == 0 {
		c = c.Cost(time.Duration(d.IntN(10)) * time.Millisecond)
	}
	if d.IntN(6) == 0 {
		c = c.Size(int64(d.IntN(1e6)))
	}
	if d.IntN(6) == 0 {
		c = c.Named(fmt.Sprint("call ", d.g.Len()))
	}
	if !d.o.Plain {
		if d.IntN(8) == 0 && len(d.sems) > 0 {
			c = c.Hold(d.sems[d.IntN(len(d.sems))])
		}
		if d.IntN(12) == 0 {
			c = c.Colocate(fmt.Sprint("key ", d.IntN(3)))
		}
		if d.IntN(20) == 0 {
			c = c.AnyOf()
		}
	}
	if d.IntN(3) == 0 {
		c = c.Keep()
	}
	d.earlier = append(d.earlier, c)
	d.ends = append(d.ends, func(res *cluster.Results) (string, error) {
		v, err := c.Result(res)
		switch {
		case errors.Is(err, cluster.ErrAbsent):
			return "absent", nil
		case errors.Is(err, cluster.ErrNotKept):
			return "not kept", nil
		}
		return fmt.Sprint(v), err
	})
	return c
}
