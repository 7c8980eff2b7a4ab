package history

import "fmt"

// A Tally counts the events of a number of histories. Histories without overlap and without lost steals show little.
type Tally struct {
	histories, overlapping, pairs, calls   int
	stolen, lost, empty, popped, top, grew int
}

// Add counts h.
func (s *Tally) Add(h *History) {
	s.histories++
	pairs := h.Overlapping()
	s.pairs += pairs
	if pairs > 0 {
		s.overlapping++
	}
	for i := range h.Ops {
		s.calls++
		switch o := &h.Ops[i]; {
		case o.Lost:
			s.lost++
		case o.Kind == Steal && o.Item == 0:
			s.empty++
		case o.Kind == Steal:
			s.stolen++
		case o.claims():
			s.top++
		case o.removes():
			s.popped++
		case o.Grew:
			s.grew++
		}
	}
}

func (s *Tally) String() string {
	each := float64(max(1, s.histories))
	return fmt.Sprintf("%d of %d histories with calls that overlap, %.1f pairs in each of %.1f calls; "+
		"%d stolen, %d lost, %d empty; %d popped, %d more at the top; may have grown %d times",
		s.overlapping, s.histories, float64(s.pairs)/each, float64(s.calls)/each,
		s.stolen, s.lost, s.empty, s.popped, s.top, s.grew)
}
