package policy

// Kinds of policy.
const (
	Adaptive = iota
	Published
)

// Table has a row for each kind of policy.
var Table = [...]struct {
	Name string // as flags and dumps have it
	New  func(Machine) Policy
}{
	Adaptive:  {"adaptive", newAdaptive},
	Published: {"adaptive-published", newPublished},
}
