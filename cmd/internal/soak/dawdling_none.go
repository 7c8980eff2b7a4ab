//go:build !magpie_chaos

package main

// dawdling would make threads lose time at the library's own contention points.
var dawdling = disturbance{name: "dawdling", missing: "exists only under the build tag magpie_chaos: " +
	"without it nothing of the library can be delayed from outside"}
