package allot

// A Count is what a job counted during a cycle.
type Count struct {
	// Attempts is the number of steal attempts of all workers, and Pure the number of those that were purely
	// unsuccessful: the victim was itself stealing. An attempt is no waste, and not counted in Pure, if the victim runs
	// an item and has no others (document 003, section 4.2).
	Attempts, Pure uint64

	Usage     int // workers awake at the end of the cycle, those in Blocking left out
	Allotment int // processors allotted for the cycle

	// Busy is the time that workers did not spend on stealing, summed over all of them, and Length that of the cycle,
	// in the same unit. They are for rules that go by the time.
	Busy, Length int64

	// Ready is the number of items that could run at the end of the cycle, the running ones included. It is for
	// Instant.
	Ready int
}

// A Rule estimates the processor desire of a job.
type Rule interface {
	// Next returns the desire for the next cycle, at least 1. The desire during the cycle that ends was desire, 1 in a
	// job's first. The job counted c.
	Next(desire int, c Count) int
}

// Permille is a ratio in thousandths.
type Permille uint32

// WSAP is the rule of document 003 (section 6.1). The share of purely unsuccessful attempts tells what part of its
// workers the job wastes. While it is at most 1 − η, the job asks for so many workers that its efficiency would fall to
// η if the new ones found nothing. This explores parallelism that does not show yet. Otherwise it asks for so many as
// would have had efficiency η.
type WSAP struct {
	Efficiency Permille // η, from 1 to 1000. The document uses 500, and 750 in its experiment P3.
}

// Next returns usage/η, or (1 − Pure/Attempts)/η · usage. It is exact, and rounds up.
func (r WSAP) Next(_ int, c Count) int {
	if r.Efficiency < 1 || r.Efficiency > 1000 {
		panic("allot: the target efficiency of WSAP is not between 1 and 1000 thousandths")
	}
	usage, efficiency := uint64(max(c.Usage, 0)), uint64(r.Efficiency)
	attempts, pure := c.Attempts, min(c.Pure, c.Attempts)
	for attempts >= 1<<36 { // The products below fit into 64 bits, with usage below 2^18.
		attempts, pure = attempts/2, pure/2
	}
	if pure*1000 <= attempts*(1000-efficiency) {
		return max(1, divideUp(usage*1000, efficiency))
	}
	return max(1, divideUp((attempts-pure)*usage*1000, attempts*efficiency))
}

func divideUp(a, b uint64) int { return int((a + b - 1) / b) }

// Instant takes the instantaneous parallelism for the desire, as Cilk-AP-INST does (document 003, section 7.1.1). A
// loop that spawns its iterations one by one has only one item more than workers, however many iterations follow
// (section 4.2): its desire grows by one a cycle.
type Instant struct{}

// Next returns the number of ready items.
func (Instant) Next(_ int, c Count) int { return max(1, c.Ready) }

// Rules holds a row for each rule, the default first.
var Rules = []struct {
	Name string
	New  func(Permille) Rule // with a target efficiency, which Instant has no use for
}{
	{"steal-ratio", func(efficiency Permille) Rule { return WSAP{Efficiency: efficiency} }},
	{"ready-items", func(Permille) Rule { return Instant{} }},
}

// Names returns the names of Rules, in their order.
func Names() []string {
	names := make([]string, len(Rules))
	for i, row := range Rules {
		names[i] = row.Name
	}
	return names
}
