package model

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestYieldIsFair: a loop that changes something and yields does not keep the others from running, and ends its yield
// when there is nobody else.
func TestYieldIsFair(t *testing.T) {
	res := Explore(Config{Preemptions: 2}, func() {
		c, looks := new(cell), new(cell)
		join := Go(func() {
			for c.load() == 0 {
				looks.add(1)
				GiveWay()
			}
			for range 3 {
				looks.add(1)
				GiveWay() // also when the other thread only waits for this one
			}
		})
		c.store(1)
		join()
	})
	require.Nil(t, res.Failure)
}
