package model

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestYieldIsFair: a loop that changes something and yields does not keep other threads from running. Its yield ends
// when there is no other thread.
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

// TestPoliteTakeTurns: threads that give way to each other go on in turn when no other thread can go on.
func TestPoliteTakeTurns(t *testing.T) {
	for bound := range 3 {
		res := Explore(Config{Preemptions: bound}, func() {
			c := new(cell)
			join := Go(func() {
				GiveWay()
				GiveWay()
				c.store(1)
			})
			for c.load() == 0 {
				GiveWay()
			}
			join()
		})
		require.Nil(t, res.Failure, "bound %d", bound)
	}
}
