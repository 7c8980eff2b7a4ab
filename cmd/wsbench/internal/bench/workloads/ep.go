package workloads

import (
	"fmt"
	"math"

	"github.com/magpie-go/magpie/executor"
)

// ep is the NAS parallel benchmark EP: long tasks of the same length, which share nothing.
var ep = &Workload{
	Name:    "ep",
	About:   "NAS benchmark EP: 2ⁿ pairs of random numbers in batches, which share nothing; figures are per pair",
	Size:    "log2 of the pairs, at most 40; classes S, W, A and B are 24, 25, 28 and 30",
	Default: 24,
	Most:    40,
	Small:   epBatch + 1,
	Shape: func(n int) Shape {
		return Shape{
			Tasks: math.Ldexp(1, n),
			Width: executor.MaxWorkers,
			Data:  math.Ldexp(12*8, max(0, n-epBatch)), // a tally for each batch
		}
	},
	Program: func(n int, _ uint64, _ Values) (Program, error) {
		e := &epProgram{pairs: 1 << min(n, epBatch), batches: make([]epTally, 1<<max(0, n-epBatch))}
		var ok bool
		if e.want, ok = epClasses[n]; !ok {
			e.Serial()
			e.want = epResult{e.got.x, e.got.y, e.got.accepted()}
		}
		return e, nil
	},
}

const (
	// epBatch is log2 of the pairs in a batch, and epSeed the state before the first number, as in the benchmark.
	epBatch = 16
	epSeed  = 271828183
	// epTolerance bounds the relative errors of the sums, as in the benchmark: its sums are added in another order.
	epTolerance = 1e-8
)

// An epResult is what a run is verified by.
type epResult struct {
	x, y     float64
	accepted uint64
}

// epClasses has the official results of the classes, by n.
var epClasses = map[int]epResult{
	24: {-3.247834652034740e+3, -6.958407078382297e+3, 13176389},
	25: {-2.863319731645753e+3, -6.320053679109499e+3, 26354769},
	28: {-4.295875165629892e+3, -1.580732573678431e+4, 210832767},
	30: {4.033815542441498e+4, -2.660669192809235e+4, 843345606},
	32: {4.764367927995374e+4, -8.084072988043731e+4, 3373275903},
	36: {1.982481200946593e+5, -1.020596636361769e+5, 53972171957},
	40: {-5.319717441530e+05, -3.688834557731e+05, 863554308186},
}

type epProgram struct {
	pairs   int // in a batch
	batches []epTally
	got     epTally
	want    epResult
}

// An epTally has the sums of some pairs that were accepted, and counts them.
type epTally struct {
	x, y   float64
	counts [10]uint64 // by the whole part of the larger absolute value of a pair
}

func (t *epTally) accepted() (n uint64) {
	for _, c := range t.counts {
		n += c
	}
	return n
}

// add adds the tally of further pairs.
func (t *epTally) add(u *epTally) {
	t.x += u.x
	t.y += u.y
	for i, c := range u.counts {
		t.counts[i] += c
	}
}

// batch makes the tally of a batch, by Marsaglia's polar method.
func (e *epProgram) batch(i int) {
	var t epTally
	rng := npbRandom(epSeed).after(uint64(i) * 2 << epBatch)
	for range e.pairs {
		x := 2*rng.next() - 1
		y := 2*rng.next() - 1
		s := x*x + y*y
		if s > 1 {
			continue
		}
		f := math.Sqrt(-2 * math.Log(s) / s)
		x *= f
		y *= f
		t.x += x
		t.y += y
		t.counts[int(max(math.Abs(x), math.Abs(y)))]++
	}
	e.batches[i] = t
}

// run makes the tallies of all batches and adds them up.
func (e *epProgram) run(each loop) error {
	err := each(len(e.batches), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			e.batch(i)
		}
	})
	e.sum()
	return err
}

// sum adds up the batches. Their order is fixed, so the sums are the same for any number of workers.
func (e *epProgram) sum() {
	e.got = epTally{}
	for i := range e.batches {
		e.got.add(&e.batches[i])
	}
}

// Reset implements Program.
func (e *epProgram) Reset() {
	clear(e.batches)
	e.got = epTally{x: math.NaN(), y: math.NaN()}
}

// Verify implements Program.
func (e *epProgram) Verify() error {
	if got, want := e.got.accepted(), e.want.accepted; got != want {
		return fmt.Errorf("%d pairs were accepted, not %d", got, want)
	}
	for _, s := range []struct {
		name      string
		got, want float64
	}{{"first", e.got.x, e.want.x}, {"second", e.got.y, e.want.y}} {
		if !(math.Abs(s.got-s.want) <= epTolerance*math.Abs(s.want)) { // a NaN is wrong, too
			return fmt.Errorf("the sum of the %s numbers is %.15g, not %.15g", s.name, s.got, s.want)
		}
	}
	return nil
}

// Serial implements Program.
func (e *epProgram) Serial() {
	for i := range e.batches {
		e.batch(i)
	}
	e.sum()
}

// Magpie implements Program.
func (e *epProgram) Magpie(ex *executor.Executor) error {
	return workerLoops(ex, "ep", 1, e.run)
}

// Goroutines implements Program.
func (e *epProgram) Goroutines(workers int) {
	goroutineLoops(workers, 1, e.run)
}
