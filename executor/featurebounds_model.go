//go:build modelcheck

package executor

// The smallest numbers with which every path is still taken.
const (
	enoughPublic  = 4
	defaultSpares = 2
	maxUnneeded   = 1
	siteRoom      = 2
	minSweep      = 1
)
