//go:build magpie_chaos

package main

import (
	"math/rand/v2"

	"github.com/magpie-go/magpie/internal/xatomic"
)

// usually is after how many atomic steps, on average, a thread dawdles when nothing else was said.
const usually = 1000

func init() { xatomic.Dawdle(usually) }

// dawdling has threads lose time at the library's own contention points much more often than they do anyhow in this
// build, or a little less.
var dawdling = disturbance{name: "dawdling", begin: func(_ *soak, rng *rand.Rand) (end func(), err error) {
	xatomic.Dawdle(8 << rng.IntN(9))
	return func() { xatomic.Dawdle(usually) }, nil
}}
