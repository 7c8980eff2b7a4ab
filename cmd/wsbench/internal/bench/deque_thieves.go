package bench

import "time"

// besieged is one queue from which any number of thieves steal as fast as they can, until a number of items are stolen.
type besieged struct {
	crowd
	owner   *dequeOwner
	thieves []*dequeThief
	steals  int
	watch   *stopwatch

	stolen int // when the clock was stopped
	took   time.Duration
}

func newBesieged(r *dequeRun) (dequeTrial, error) {
	queues, err := r.kind.Open(1+r.Thieves, r.Capacity, r.Block)
	if err != nil {
		return nil, err
	}
	// More items than are stolen: the items that are left must not all be hidden from thieves, and the thieves steal on
	// until they see that the run is over.
	b := &besieged{owner: newDequeOwner(r, queues[0], r.N+2*r.keep()), steals: r.N, watch: newStopwatch()}
	for i := range r.Thieves {
		b.thieves = append(b.thieves, newDequeThief(queues, 1+i, 1+r.Thieves))
	}
	return b, nil
}

func (b *besieged) run(r *dequeRun) error {
	threads := []func(){b.own}
	for _, t := range b.thieves {
		threads = append(threads, func() {
			for !b.over.Load() {
				t.try()
			}
		})
	}
	if err := b.crowd.run(r.ctx, b.sum, threads...); err != nil {
		return err
	}
	return b.owner.check(b.thieves...)
}

// sum returns how many items have been stolen so far.
func (b *besieged) sum() (stolen int64) {
	for _, t := range b.thieves {
		stolen += t.stolen.Load()
	}
	return stolen
}

// own is the owner's thread: it feeds the thieves. When they have enough it still pops and pushes, for some of them may
// have asked for more.
func (b *besieged) own() {
	defer b.over.Store(true)
	o := b.owner
	begin := b.watch.now()
	for o.stolen < b.steals && !b.over.Load() && (b.took < runLimit || o.stolen == 0) {
		o.round(LongestRound)
		o.hear(int(b.sum()))
		b.took = b.watch.now() - begin
	}
	b.stolen = o.stolen
}

func (b *besieged) figures() []Metric {
	return append([]Metric{{"steals/s", float64(b.stolen) / b.took.Seconds()}}, failures(b.thieves...)...)
}
