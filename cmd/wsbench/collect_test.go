package main

import (
	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench"
	"github.com/magpie-go/magpie/internal/testkit"
)

// Quick tests collect no garbage before their measurements.
func init() {
	if testkit.Quick() {
		bench.Collect = func() {}
	}
}
