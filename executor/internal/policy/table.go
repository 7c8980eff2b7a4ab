package policy

// The indices of Table.
const (
	Adaptive = iota
	Published
)

// Table has a row for each kind of policy.
var Table = [...]struct {
	Name string // in flags and dumps
	New  func(Machine) Policy
}{
	Adaptive:  {"adaptive", newAdaptive},
	Published: {"adaptive-published", newPublished},
}
