package lint

// layers is the import table of the architecture: for each library package, the packages of this module that it may
// import. Each of those is in the table too. Besides them, libraries import the standard library and golang.org/x/sys
// only.
//
// The scheduler knows nothing of graphs; deque and notifier know nothing of each other.
//
// A package outside cmd and internal is a library, and so is a package of internal that a library imports. A new one
// gets a row of its own, and its name in the row of each package that imports it: for "executor/internal/x", a row
// "executor/internal/x": {"internal/pad"}, and "executor/internal/x" in the row of "executor".
// TestEveryLibraryIsInTheTable fails for a library without a row.
var layers = map[string][]string{
	"graph": {
		"executor", "internal/plan", "internal/hugepage", "internal/xatomic", "internal/xsync", "internal/pad",
		"internal/errfmt", "internal/left",
	},
	"executor": {
		"executor/experiment", "executor/host", "executor/internal/hosting", "executor/internal/lane",
		"executor/internal/pace", "executor/internal/enum", "executor/internal/policy", "executor/internal/share",
		"executor/internal/spares", "executor/internal/spin", "executor/internal/stalls", "deque", "notifier",
		"internal/park",
		"internal/osthread", "internal/procs", "internal/xatomic", "internal/xsync", "internal/pad",
		"internal/errfmt", "internal/left", "internal/living", "internal/peer",
	},
	"executor/host": {
		"deque", "executor/internal/enum", "executor/internal/hosting", "executor/internal/share", "internal/allot",
		"internal/gat", "internal/park", "internal/quota", "internal/xatomic", "internal/xsync",
	},
	"executor/internal/hosting": {"deque", "executor/internal/share"},
	"executor/internal/lane":    {"deque", "internal/pad", "internal/xatomic"},
	"executor/internal/names":   {"executor"},
	"executor/internal/policy": { // deque for its Outcome only
		"deque", "internal/pad", "internal/xatomic", "internal/xsync",
	},
	"executor/internal/pace":   {},
	"executor/internal/share":  {"internal/pad", "internal/xatomic", "internal/xsync"},
	"executor/internal/enum":   {},
	"executor/internal/spares": {"internal/xatomic", "internal/xsync"},
	"executor/internal/spin":   {"internal/xatomic"},
	"executor/internal/stalls": {"internal/osthread", "internal/xatomic", "internal/xsync"},
	"executor/observe": {
		"executor", "executor/internal/names", "internal/pad", "internal/xatomic", "internal/xsync",
	},
	"executor/experiment": {"deque", "executor/internal/enum", "executor/internal/policy", "internal/peer"},
	"executor/httpdebug":  {"executor", "executor/metrics", "internal/xsync"},
	"executor/metrics":    {"executor", "executor/host", "executor/observe", "internal/xsync"},
	"executor/parallel":   {"executor", "internal/hugepage", "internal/left", "internal/xatomic", "internal/xsync"},
	"executor/pipeline": {
		"executor", "internal/left", "internal/xatomic", "internal/xsync", "internal/pad", "internal/errfmt",
	},
	"executor/pool": { // internal/model under the tag modelcheck only
		"executor", "executor/internal/enum", "internal/left", "internal/xatomic", "internal/xsync", "internal/pad",
		"internal/errfmt", "internal/model",
	},
	"executor/service": {
		"executor", "executor/httpdebug", "executor/metrics", "executor/observe", "executor/watch",
	},
	"executor/watch": {
		"executor", "executor/internal/names", "internal/xatomic", "internal/xsync", "internal/pad",
	},
	"deque":             {"internal/xatomic", "internal/xsync", "internal/pad"},
	"notifier":          {"internal/park", "internal/xatomic", "internal/pad"},
	"internal/plan":     {"internal/hugepage"},
	"internal/hugepage": {},
	"internal/pad":      {},
	"internal/allot":    {},
	"internal/cgroup":   {},
	"internal/gat":      {"internal/allot", "internal/xatomic"},
	"internal/quota":    {"internal/cgroup"},
	"internal/errfmt":   {},
	"internal/living":   {},
	"internal/procs":    {},
	"internal/peer":     {"internal/osthread", "internal/pad"},
	"internal/model":    {},

	// These import internal/model under the tag modelcheck only.
	"internal/park":     {"internal/xatomic", "internal/pad", "internal/model"},
	"internal/xatomic":  {"internal/model"},
	"internal/xsync":    {"internal/model"},
	"internal/left":     {"internal/xatomic", "internal/model"},
	"internal/osthread": {"internal/model"},
}
