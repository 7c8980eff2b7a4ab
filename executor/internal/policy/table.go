package policy

// Usual is the row of the default.
var Usual = Row{
	Name:  "adaptive",
	Does:  "as many thieves as there is work for, and none when there is none",
	When:  "always, unless an experiment needs another: it is the default",
	Costs: "a load for each task pushed; a wake-up when there is work and no thief",
	New:   newAdaptive, Retries: true, Guests: true,
}

// Table holds a row for each kind of policy. A program that refers to Usual only links none of the others, as long as
// the table needs no code to be initialized: the functions of its rows bind no values.
var Table = []Row{
	Usual,
	{
		Name:  "adaptive-published",
		Does:  "document 000, Algorithms 2 to 5: while any task runs, one thief stays awake and tries",
		When:  "to compare with the published algorithm; tasks that come often and wait for none",
		Costs: "nothing for a task pushed; one more core than there is work for",
		New:   newPublished,
	},
	{
		Name:  "abp",
		Does:  "Arora, Blumofe and Plaxton: a thief offers its core before each attempt, and sleeps between runs only",
		When:  "to compare; a machine of its own and runs that keep every worker busy",
		Costs: "every core during a run, whatever there is to do",
		New:   newABP, Knobs: []int{KnobYields},
	},
	{
		Name:  "mbws",
		Does:  "document 000's form of 004: each theft lets thieves wake two workers; the last thief stays awake",
		When:  "to compare",
		Costs: "nothing for a task pushed; one more core than there is work for; a slow start when work grows",
		New:   newMBWSLast, Knobs: []int{KnobSleepThreshold, KnobBusyWakes},
	},
	{
		Name:  "mbws-role",
		Does:  "mbws, but the thief that stays awake is document 004's watchdog: a role, which is handed over",
		When:  "to compare; it is what the policies bws-… are without their stand-ins",
		Costs: "as mbws",
		New:   newMBWS, Knobs: []int{KnobSleepThreshold, KnobBusyWakes},
	},
	{
		Name:  "bws-same",
		Does:  "mbws-role, and a thief yields to a busy worker last on the thief's own CPU, which so has no core",
		When:  "to compare on a machine that other programs use too; Linux with rseq",
		Costs: "as mbws, and two loads for each failed attempt; misses workers preempted on other CPUs",
		New:   newBWSSame, Needs: NeedSameCPU, Knobs: []int{KnobSleepThreshold, KnobBusyWakes, KnobCheckPeers},
	},
	{
		Name:  "bws-clock",
		Does:  "bws-same, and a thief also yields to a busy worker whose thread's CPU clock stands still",
		When:  "as bws-same, to see what it misses",
		Costs: "as bws-same, and some microseconds at every eighth failed attempt; its yields may serve other programs",
		New:   newBWSClock, Needs: NeedSameCPU | NeedStoppedClock,
		Knobs: []int{KnobSleepThreshold, KnobBusyWakes, KnobCheckPeers},
	},
	{
		Name:  "bws-pull",
		Does:  "bws-clock, but a thief moves the busy worker's thread to its own CPU, and then gives that up",
		When:  "as bws-same, with threads that nothing has pinned; the closest to the kernel support of 004",
		Costs: "as bws-clock, and some system calls and a cold cache for each thread moved",
		New:   newBWSPull, Needs: NeedSameCPU | NeedStoppedClock | NeedPull,
		Knobs: []int{KnobSleepThreshold, KnobBusyWakes, KnobCheckPeers},
	},
	{
		Name:  "wsgi",
		Does:  "document 004's WSGI, with global information: one thief for two busy workers, counted under a lock",
		When:  "to compare: it shows the price of exact counts",
		Costs: "a lock for each theft and each worker that runs out of tasks",
		New:   newWSGI, Knobs: []int{KnobSleepThreshold},
	},
	{
		Name:  "taskflow",
		Does:  "Taskflow since 3.5: each task pushed wakes a worker; a worker sleeps if all deques are empty",
		When:  "to compare; few tasks, each worth a wake-up",
		Costs: "a wake-up for each task pushed while a worker sleeps",
		New:   newTaskflow, Guests: true,
	},
}

// A Row describes a kind of policy. Does, When and Costs have a line each.
type Row struct {
	Name  string // in flags and dumps
	Does  string // what the policy does
	When  string // when it is the right one
	Costs string
	Knobs []int // the indices in Knobs of the options that it has
	Needs Need
	// Retries says that thieves try a lost steal again at once: they rely on lost steals to yield.
	Retries bool
	// Guests says that a goroutine may take the place of a worker that sleeps in Commit, and run items: a wake-up for
	// an item depends on nothing but Thieves and what Shown and Submitted do. The policy is told only what [Hosting]
	// says.
	Guests bool
	New    func(Machine, Options) Policy
}

// About returns the three lines of a row.
func (r *Row) About() string { return r.Does + "\nwhen: " + r.When + "\ncosts: " + r.Costs }

// The indices in Table of the kinds that package executor has constants for.
const (
	Adaptive = iota
	Published
	ABP
	MBWS
	MBWSRole
	BWSSame
	BWSClock
	BWSPull
	WSGI
	Taskflow
)
