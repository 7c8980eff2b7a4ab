package executor

// Host is the part of a [Config] that is about the rest of the process, and of the machine.
type Host struct {
	// KeepGOMAXPROCS leaves GOMAXPROCS alone. By default an executor raises it until Close by its number of workers and
	// a third of that, rounded up. So a busy worker never keeps a goroutine from running. The third is for the garbage
	// collector, which takes a quarter of all Ps while it marks: so it takes none of the program's own Ps on account of
	// the workers. While GOMAXPROCS is raised, the runtime does not update it by itself when the CPU quota changes.
	//
	// With KeepGOMAXPROCS and as many workers as Ps, a goroutine that waits for the workers shares the Ps with them,
	// even if nothing else runs: loops of two pieces of 1 to 20 ms, one after the other, took 1.4 to 1.7 times as long
	// as on goroutines (two cores, AMD EPYC, 2026-11-25). With a GOMAXPROCS that is larger by one they do not.
	KeepGOMAXPROCS bool
	// QuotaShare is the part of the process's CPU quota that workers leave to the rest of the process, above 0 and below
	// 1; 0 means none. Under a quota, such as Kubernetes sets with limits.cpu, the kernel stops the whole process when
	// its CPU time for a period is used up, handlers of requests too, whatever the priority of the workers that have
	// used it. With a QuotaShare of 0.25, workers use at most three quarters of the quota: some of them rest, each from
	// the end of a task, a Fork or a Join on, for a few milliseconds. If the process is stopped all the same, because
	// the rest of it needs more than its share, workers use less for a while, down to a twentieth of theirs.
	//
	// Executors of one process use that part together: those with a QuotaShare that have work in progress have equal
	// parts of it, and what one does not need the others use. The largest QuotaShare among them is left free.
	//
	// The quota is the smallest of the process's control group and of those around it that the process sees. It is read
	// again in each of its periods, or once a second while there is none. It bounds tasks that take much longer than a
	// period, usually 100 ms, only on average over a second. Without a quota workers do not rest, and without control
	// groups, as on other systems than Linux, QuotaShare has no effect. See [QuotaStats].
	QuotaShare float64
	// Share makes the executor share the machine's processors with others that have one. nil means that the executor
	// uses as many processors as it has work for, whatever the others do.
	Share *Share
}

// check reports every bad field to bad. It fills in the defaults of Share for so many workers.
func (h *Host) check(bad func(format string, args ...any), workers int) {
	if !(h.QuotaShare >= 0 && h.QuotaShare < 1) {
		bad("Host.QuotaShare is %v: give a part of the CPU quota above 0 and below 1, or 0 for none", h.QuotaShare)
	}
	h.Share = h.Share.withDefaults(workers, bad)
}
