package replay

// ideal001 returns how many units the sleeps of document 001 take on so many threads if nothing but sleep takes time.
// Tasks are dealt to the threads in turn. A thread takes the newest task of its queue. When it has none, it takes the
// oldest tasks of the next queue that has some, in a circle: as many as amount returns of those there, and sleeps for
// the newest of them first. Without an amount it ends.
func ideal001(units []int, threads int, amount func(n int) int) int {
	queues, free := make([][]int, threads), make([]int, threads)
	for i, u := range units {
		queues[i%threads] = append(queues[i%threads], u)
	}
	last := 0
	for awake := threads; awake > 0; {
		thread := 0 // the first that is free; of several, the one with the lowest number
		for i, at := range free {
			if at >= 0 && (free[thread] < 0 || at < free[thread]) {
				thread = i
			}
		}
		if len(queues[thread]) == 0 && amount != nil {
			for i := 1; i < threads; i++ {
				victim := &queues[(thread+i)%threads]
				if n := len(*victim); n > 0 {
					n = amount(n)
					queues[thread], *victim = append(queues[thread], (*victim)[:n]...), (*victim)[n:]
					break
				}
			}
		}
		n := len(queues[thread]) - 1
		if n < 0 {
			free[thread] = -1 // it has ended
			awake--
			continue
		}
		free[thread] += queues[thread][n]
		queues[thread] = queues[thread][:n]
		last = max(last, free[thread])
	}
	return last
}

// stealOne is an amount.
func stealOne(int) int { return 1 }
