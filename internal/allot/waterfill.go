package allot

// A Job is what decides a job's allotment.
type Job struct {
	Key     uint64 // distinguishes jobs that are otherwise equal, see WaterFill
	Desire  int    // processors; a job that desires none has none
	Weight  int    // its part in what is shared out, from 1 to MaxWeight; other values count as the nearest
	Minimum int    // processors that it has before others share the rest, as far as it desires them
	Limit   int    // the largest allotment; 0 means that there is none
}

// MaxWeight is the largest weight of a job.
const MaxWeight = 10000

// WaterFill returns the allotments of jobs on the given number of processors, of which there is at least one. It is a
// pure function of the jobs and their keys. The order of the jobs does not matter if their keys differ.
//
// No job has more than its desire or its limit. Each job that desires any has at least one processor, and its minimum.
// The rest goes out one by one: each next processor goes to the deprived job whose allotment with it, divided by the
// weight, is the smallest; among equals to the job that lacks most; then to the one with the smaller key. So the
// allotments are as the weights, where desires, limits and minima permit.
//
// Without weights, minima and limits they are those of repeated rounds in which each deprived job gets a processor
// (document 003, section 5.2, equipartition), and Fair, Efficient and Conservative.
//
// If the minima exceed the processors, the minima are shared out in the same way, as desires without minima would be.
// If there are more jobs than processors, each has one: then, and only then, do the allotments exceed the processors.
func WaterFill(processors int, jobs []Job) []int {
	total := int64(max(processors, 1))
	shares := make([]share, len(jobs))
	present, minima := int64(0), int64(0)
	for i, j := range jobs {
		s := newShare(j, total)
		shares[i] = s
		present += min(s.high, 1)
		minima += s.low
	}
	switch {
	case present >= total:
		for i := range shares {
			shares[i].got = min(shares[i].high, 1)
		}
	case minima > total:
		for i := range shares {
			s := &shares[i]
			s.high, s.want = s.low, s.low
			s.low = min(s.low, 1)
		}
		fill(shares, total)
	default:
		fill(shares, total)
	}
	allotments := make([]int, len(jobs))
	for i, s := range shares {
		allotments[i] = int(s.got)
	}
	return allotments
}

// A share is one job's part of what fill shares out.
type share struct {
	key       uint64
	weight    int64
	low, high int64 // what it gets at least and at most
	want      int64 // what it would get if there were enough processors
	got       int64
	isFixed   bool // what it gets is known
}

func newShare(j Job, processors int64) share {
	want := int64(max(j.Desire, 0))
	if j.Limit > 0 {
		want = min(want, int64(j.Limit))
	}
	high := min(want, processors)
	return share{
		key:    j.Key,
		weight: int64(min(max(j.Weight, 1), MaxWeight)),
		low:    min(int64(max(j.Minimum, 1)), high),
		high:   high,
		want:   want,
	}
}

// fill shares out total, which is not below the sum of the lows.
func fill(shares []share, total int64) {
	highs := int64(0)
	for _, s := range shares {
		highs += s.high
	}
	if highs <= total {
		for i := range shares {
			shares[i].got = shares[i].high
		}
		return
	}
	rest := total
	level(shares, total)
	for _, s := range shares {
		rest -= s.got
	}
	for ; rest > 0; rest-- {
		next := -1
		for i := range shares {
			if s := &shares[i]; s.got < s.high && (next < 0 || s.before(&shares[next])) {
				next = i
			}
		}
		shares[next].got++
	}
}

// level gives each share the integer part of what it would get if processors could be divided: level times weight, but
// neither below low nor above high. The level is the one at which these are total together. It lies between those for
// all lows and all highs.
//
// Each round takes the level at which the shares not yet fixed would be what is left, regardless of low and high. If
// they come to more than that with low and high, the true level is lower: then the shares that low raises are at low
// at the true level, too. If they come to less, it is the shares that high lowers. Either way a round fixes one share
// or more.
func level(shares []share, total int64) {
	for {
		left, weights := total, int64(0)
		for _, s := range shares {
			if s.isFixed {
				left -= s.got
			} else {
				weights += s.weight
			}
		}
		excess := int64(0) // with low and high over what is left, times weights
		for i := range shares {
			if s := &shares[i]; !s.isFixed {
				excess += s.clamp(left*s.weight, weights) - left*s.weight
			}
		}
		for i := range shares {
			s := &shares[i]
			if s.isFixed {
				continue
			}
			if part, clamped := left*s.weight, s.clamp(left*s.weight, weights); excess == 0 ||
				excess > 0 && clamped > part || excess < 0 && clamped < part {
				s.got = clamped / weights
				s.isFixed = true
			}
		}
		if excess == 0 {
			return
		}
	}
}

// clamp returns x, or the nearest value for which x/unit is from low to high.
func (s *share) clamp(x, unit int64) int64 { return min(max(x, s.low*unit), s.high*unit) }

// before reports whether the next processor goes to s rather than to o.
func (s *share) before(o *share) bool {
	if a, b := (s.got+1)*o.weight, (o.got+1)*s.weight; a != b {
		return a < b
	}
	if a, b := s.want-s.got, o.want-o.got; a != b {
		return a > b
	}
	return s.key < o.key
}
