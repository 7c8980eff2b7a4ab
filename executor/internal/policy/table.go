package policy

// Table has a row for each kind of policy.
var Table = []struct {
	Name  string // in flags and dumps
	About string // in one line
	New   func(Machine) Policy
}{
	{"adaptive", "as many thieves as there is work for, none when there is none; the default", newAdaptive},
	{"adaptive-published", "the published algorithm, unchanged: the last thief spins while any task runs", newPublished},
}

// The indices in Table of the kinds that package executor has constants for.
const (
	Adaptive = iota
	Published
)
