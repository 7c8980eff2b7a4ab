package experiment

// PeerStats says how often the worker, as a thief, took a busy worker for one without a core, under the policies
// "bws-same", "bws-clock" and "bws-pull", and what it did then. Other policies leave it zero. A busy worker that sleeps
// in the system, as a task in executor.Blocking may, looks like one without a core.
type PeerStats struct {
	SameCPU      Answers // whether the busy worker was last on the thief's CPU
	StoppedClock Answers // whether its thread's processor time stood still
	Yields       uint64  // times that the thief gave up its core because of such an answer
	Pulls        uint64  // times that it had the busy worker's thread moved to its own CPU, and then gave that up
	PullsRefused uint64  // times that the system refused that, or the thread had been moved a moment before
}

// Answers counts the answers of a stand-in for the kernel's knowledge of which threads have a core. With CheckPeers of
// [Options] and where the system permits it, each answer is compared with the kernel's records of the
// thread.
type Answers struct {
	Asked     uint64 // questions, which are as many as answers
	Preempted uint64 // answers that the busy worker has no core

	Checked       uint64 // answers that a record could judge
	FalsePositive uint64 // of those: "no core", and the thread was running
	FalseNegative uint64 // of those: "a core", and the thread was waiting for one
	Blocked       uint64 // of those: "no core", and the thread slept in the system, and wanted none
	Unknown       uint64 // answers that no record could judge: the thread was switched meanwhile, or is not recorded
}
