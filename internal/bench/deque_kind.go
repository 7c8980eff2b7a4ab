package bench

import "github.com/magpie-go/magpie/deque"

// A DequeKind makes the queues of one kind of deque, to be measured by a [DequeExperiment].
type DequeKind struct {
	Name  string
	About string // one line
	// Blocks says that the size of a block matters to this kind.
	Blocks bool
	// Open makes n queues that know of each other. Check says why it cannot.
	Open  func(n, capacity, block int) ([]deque.Queue[Item], error)
	Check func(n, capacity, block int) error
}

// An Item is what the experiments put into queues. Who takes one out of a queue for good marks it.
type Item struct {
	id    uint32
	taken uint32
}

// DequeKinds lists the kinds of package deque.
func DequeKinds() (kinds []*DequeKind) {
	for _, k := range deque.Kinds() {
		group := func(n, capacity, block int) (*deque.Group[Item], error) {
			return deque.NewGroup[Item](k, n, deque.Options{Capacity: capacity, BlockSize: block})
		}
		kinds = append(kinds, &DequeKind{
			Name:   k.String(),
			About:  dequeKindAbout[k],
			Blocks: k == deque.KindBWoS || k == deque.KindBWoSFIFO || k == deque.KindPadWS,
			Open: func(n, capacity, block int) ([]deque.Queue[Item], error) {
				g, err := group(n, capacity, block)
				if err != nil {
					return nil, err
				}
				queues := make([]deque.Queue[Item], n)
				for i := range queues {
					queues[i] = g.Queue(i)
				}
				return queues, nil
			},
			Check: func(n, capacity, block int) error {
				_, err := group(n, capacity, block)
				return err
			},
		})
	}
	return kinds
}

var dequeKindAbout = map[deque.Kind]string{
	deque.KindChaseLev: "Chase and Lev's, which grows: a locked instruction a push, and one a pop; the default",
	deque.KindABP:      "Arora, Blumofe and Plaxton's, bounded: the yardstick of the paper",
	deque.KindBWoS:     "block-based: thieves never see the owner's block",
	deque.KindBWoSFIFO: "the same, first in first out for the owner too; not for programs, which fork",
	deque.KindPadWS:    "blocks, and in its own the owner grants what thieves have asked for",
	deque.KindADWS:     "no blocks: the owner puts one item at a time where thieves can take it",
	deque.KindPDQR:     "private: a thief asks, the owner answers (receiver-initiated)",
	deque.KindPDQS:     "private: the owner deals out to who waits (sender-initiated)",
	deque.KindLocked:   "a mutex around everything",
}
