package replay

// A Listed is an experiment, a table, a figure or a parameter of a document, and where it is replayed.
type Listed struct {
	Document string // "000"
	Place    string // in the document
	What     string
	In       []string // the IDs of experiments; none if it is not replayed
	Why      string   // then: why not. Otherwise what differs, or ""
}

// Register returns what the documents have, in their order. It was written by reading the documents, not the
// experiments.
func Register() []Listed { return register }

func in(ids ...string) []string { return ids }

var register = []Listed{
	// Document 000.
	{"000", "II-D, lemma 2", "the bound on steals in vain before a thief sleeps", in("000/lemma2"), ""},
	{"000", "III-A, figures 2a and 3a", "linear chain: time and CPU utilisation", in("000/fig2"), ""},
	{"000", "III-A, figures 2b and 3b", "binary tree", in("000/fig2"), ""},
	{"000", "III-A, figures 2c and 3c", "graph traversal", in("000/fig2"),
		"the document does not say how its random graph is made"},
	{"000", "III-A, figures 2d and 3d", "matrix multiplication", in("000/fig2"), ""},
	{"000", "III-B, table I", "the circuits", in("000/table1"), "tv80 and b19 are made by a seed"},
	{"000", "III-B, figure 4", "timing analysis of three circuits", in("000/fig4"), "the timer is our own"},
	{"000", "III-B, figure 5, left", "energy", in("000/fig5-energy"), "CPU time where no counter can be read"},
	{"000", "III-B, figure 5, right", "co-runs of timing analyses", in("000/fig5-corun"), ""},
	{"000", "III", "threads split over two sockets", nil,
		"it takes a machine with two sockets"},

	// Document 001.
	{"001", "Results 1, first figure", "matrix multiplication by queue and number of tasks", in("001/f1"), ""},
	{"001", "Results 2, second figure", "random sleep, 4 threads, 40 tasks", in("001/f2"),
		"a unit is 1 ms; 1 s with wsbench replay -unit 1s"},
	{"001", "Results 2, third figure", "random sleep, 16 threads, 160 tasks", in("001/f3"),
		"a unit is 0.5 ms; 1 s with -unit 1s"},
	{"001", "Results 2, fourth figure", "random sleep, 64 threads, 320 tasks", in("001/f4"),
		"a unit is 0.5 ms; 1 s with -unit 1s"},
	{"001", "Results 3, fifth figure", "text search: centralised against priority", in("001/f5"), ""},
	{"001", "Results 2, summary", "stealing with uneven and with even work", in("001/summary"), ""},
	{"001", "Benchmarks", "Mandelbrot", nil, "the document has no results of it; wsbench has mandelbrot-views"},
	{"001", "Benchmarks", "quicksort", nil, "it is named as an argument only, and never run"},

	// Document 002.
	{"002", "1.2, figure 1", "fat and thin trees by the size of blocks", in("002/fig1"), ""},
	{"002", "1.3, figure 2a", "the owner's throughput by the share stolen", in("002/fig2a"), ""},
	{"002", "1.3, figure 2b", "the latency of a steal", in("002/fig2b"), ""},
	{"002", "1.3, figure 2c", "the throughput of up to 87 thieves", in("002/fig2c"), "as many as there are cores"},
	{"002", "2.1, figure 2d", "retries of a steal with adws", in("002/fig2d"), ""},
	{"002", "beyond the document", "the deques in an executor", in("002/forks", "002/graphs"), ""},

	// Document 003.
	{"003", "2.1, figure 2-1", "static and dynamic partitions in theory", in("003/fig2-1"), ""},
	{"003", "4.2, figure 4-2", "loopy's instantaneous parallelism", in("003/fig7-4"),
		"its parallelism is a unit test of the job"},
	{"003", "5.1, figure 5-1", "fair, efficient and conservative allotments", in("003/fig5-2"), ""},
	{"003", "5.2, figure 5-2", "allotments after ten events", in("003/fig5-2"), ""},
	{"003", "6.1, figure 6-2", "desires over six intervals", in("003/fig6-2"), ""},
	{"003", "6, figure 6-3", "where the estimate and the allotment are made", in("003/fig6-3"),
		"on virtual processors: what the designs do is counted, and their qualities are not measured"},
	{"003", "7.1.1, figure 7-1", "work, span, parallelism and all-procs time", in("003/fig7-1"), ""},
	{"003", "7.1.1, figure 7-1", "the column of times with 16 processors", in("003/fig7-1-virtual"),
		"in virtual time"},
	{"003", "7.1.1, figures 7-2 and 7-3", "O1: all-procs time by est_cycle", in("003/o1"), ""},
	{"003", "7.1.1, figure 7-4", "desires by ready threads", in("003/fig7-4", "003/fig7-4-machine"), ""},
	{"003", "7.1.2, figure 7-5", "O2: what estimating costs", in("003/o2"), ""},
	{"003", "7.1.3, figure 7-6", "O3: response of two loops", in("003/o3"), "on virtual processors"},
	{"003", "7.2.1, figure 7-7", "three jobs in theory", in("003/fig7-7"), ""},
	{"003", "7.2.1, figure 7-8", "P1: three jobs of half the machine", in("003/p1", "003/p1-machine"), ""},
	{"003", "7.2.2, figure 7-9", "P2: serial and parallel phases", in("003/p2", "003/p2-lag", "003/p2-machine"),
		"with two processors the ideal gain is none"},
	{"003", "7.2.3, figure 7-10", "P3: the bound of greedy schedules", in("003/p3", "003/p3-machine"), ""},
	{"003", "beyond the document", "two services that share", in("003/services"), ""},

	// Document 004.
	{"004", "2.3.2", "BFS and EP, CG and MM under ABP", in("004/sec2"), ""},
	{"004", "5.1, table 1", "the benchmarks and their speed-ups", in("004/table1"), "CLIP's data are made by a seed"},
	{"004", "5.2, figure 2", "slowdowns and unfairness of all pairs", in("004/fig2"), ""},
	{"004", "5.2, figure 3", "weighted speed-up of all pairs", in("004/fig3"), ""},
	{"004", "5.2, footnote 4", "the benchmarks alone", in("004/solo"), ""},
	{"004", "5.2", "context switches, and those to thieves", in("004/fig2"),
		"recorded where the system permits it; voluntary and involuntary ones everywhere"},
	{"004", "5.2, figure 4", "variation of the times", in("004/fig4"), ""},
	{"004", "5.3, figure 5", "delayed and selective yields", in("004/fig5"), ""},
	{"004", "5.4, figure 6", "the sleep threshold", in("004/fig6"), ""},
	{"004", "5.5", "busy workers that wake others, and global counts", in("004/sec5.5"), ""},
	{"004", "footnote 3", "sched_compat_yield", in("004/fig2", "004/fig5"),
		"kernels since Linux 3.0 have no such setting; their sched_yield stands for it"},
	{"004", "4.2", "yield_to and the kernel's knowledge of running threads", in("004/fig2", "004/stand-ins"),
		"stand-ins: the peer's clock, and a yield that the kernel gives to any thread"},
}
