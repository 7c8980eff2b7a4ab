package bench

import "github.com/magpie-go/magpie/deque"

// A DequeKind makes the queues of one kind of deque, for a [DequeExperiment].
type DequeKind struct {
	Name  string
	About string // one line
	// Blocks says that the kind has blocks, whose size matters.
	Blocks bool
	// Open makes n queues of one group. Check returns the error that Open would return.
	Open  func(n, capacity, block int) ([]deque.Queue[Item], error)
	Check func(n, capacity, block int) error
}

// An Item is the item of the experiments. The thread that takes it out of a queue for good marks it.
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
			About:  k.About(),
			Blocks: k.Blocks(),
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
