//go:build magpie_chaos

package main

import (
	"math/rand/v2"

	"github.com/magpie-go/magpie/internal/xatomic"
)

// usually is the average number of atomic steps after which a thread dawdles, unless the disturbance is on.
const usually = 1000

func init() { xatomic.Dawdle(usually) }

// dawdling makes threads lose time at the library's own contention points, mostly much more often than usual in this
// build.
var dawdling = disturbance{name: "dawdling", begin: func(_ *soak, rng *rand.Rand) (end func(), err error) {
	xatomic.Dawdle(8 << rng.IntN(9))
	return func() { xatomic.Dawdle(usually) }, nil
}}
