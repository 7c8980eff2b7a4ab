package replay

// A need is the least number of cores at which the quantity of a claim can differ between what the claim compares, and
// why it cannot with fewer.
type need struct {
	cores int // 0: the figures are the same on any machine
	why   string
}

// exact reports whether the figures are the same on any machine.
func (n need) exact() bool { return n.cores == 0 }

// The needs of all claims.
var (
	calculated = need{0, "the figures are computed"}
	counted    = need{0, "the figures count parts of the input, or steps of the program"}

	// Document 000.
	aThief = need{2, "with one core a thief runs only while no task does, so that one core is busy whatever the policy"}
	// The numbers of workers are powers of two.
	aSleeper000 = need{4, "with two workers the only thief is the watchdog, which no policy lets sleep; the next " +
		"number of workers is four"}
	beyondFour = need{8, "the times fall until 4 cores, so that more cores have to show that they are stable"}
	// What the document says of c6288 is of these numbers of cores.
	fromFour = need{4, "the document has 1, 4, 8 and more cores; a level of c6288 has 19 gates on average, enough for " +
		"both of two"}
	twoBeside = need{3, "the thread that looks has a core, and two more are for the long task and a thief: else a " +
		"thief that is to sleep waits for a core before it can"}

	// Document 001.
	asleep     = need{1, "the tasks sleep, so that one core has room for all threads"}
	twoThreads = need{2, "with a thread a core, one thread has one queue and nobody to steal from"}
	inOrder    = need{1, "the order of the tasks decides, with one thread too"}

	// Document 002.
	eightQueues = need{8, "eight queues have a thread each, and a thread without a core contends with none"}
	twoEnds     = need{2, "owner and thief contend only if each has a core"}
	anOwner     = need{1, "what the owner pays for its push and pop is the same with one core"}
	manyThieves = need{8, "thieves contend only if each has a core, and the kinds part with many thieves"}

	// Document 003 on the machine.
	twoProcessors    = need{2, "the only processor of a machine has work at once, and all of it"}
	aJobAlone        = need{1, "desires are estimated with one processor, too"}
	twelveProcessors = need{12, "one more in each cycle is P - 1 cycles, and doubling is log P: with fewer " +
		"processors that is not 2.5 times as many"}
	halfOfFour    = need{4, "with two processors half is one worker, and three jobs of one worker each leave none to move"}
	complementary = need{4, "with two processors a job has one in its parallel phase, as with static partitions: the " +
		"ideal gain is none"}
	twoJobs = need{2, "one processor has one job at a time, however it is shared"}

	// Document 004.
	aSleeper  = need{3, "with two workers the only thief of a program is the watchdog, which no policy lets sleep"}
	losesBFS  = need{3, "BFS scales to 0.66 of the cores, so that with two it loses 0.3 workers to EP at most"}
	premature = need{3, "with two workers a thief's only victim is the busy one, so that hardly a steal fails while there " +
		"is something to steal: no thief yields prematurely, by which the document explains the loss"}
	halfOfIt = need{4, "half of two workers is one, which is no thief and never yields: it keeps one of the two cores, " +
		"and leaves the other to all workers of MM"}
	halfTheTime = need{4, "without yields each of four threads has half of a core, so that a program takes twice its " +
		"time with one worker at most: two workers are slowed down by 300 % at most"}
	groups  = need{8, "with few cores the groups are closer than the noise: 0.6 of two cores is a speed-up of 1.2"}
	crowded = need{8, "wake-ups and global counts cost time only if many workers contend for them"}
)
