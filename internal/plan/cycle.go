package plan

// Cycle returns the tasks of one cycle, each preceding the next and the last preceding the first, or nil if there is
// none.
func (p *Plan) Cycle() []uint32 {
	left := p.unreachable()
	if left == nil {
		return nil
	}
	// Every task that is left has a predecessor that is left too. A walk backwards from any of them must come round.
	pred := make([]uint32, p.Len())
	for i := range p.Len() {
		if left[i] == 0 {
			continue
		}
		for _, s := range p.Precedes(uint32(i)) {
			if left[s] != 0 {
				pred[s] = uint32(i)
			}
		}
	}
	at := uint32(0)
	for left[at] == 0 {
		at++
	}
	seen := make(map[uint32]bool)
	for !seen[at] {
		seen[at] = true
		at = pred[at]
	}
	path := []uint32{at}
	for t := pred[at]; t != at; t = pred[t] {
		path = append(path, t)
	}
	// pred leads backwards; the path is returned forwards.
	for i, j := 1, len(path)-1; i < j; i, j = i+1, j-1 {
		path[i], path[j] = path[j], path[i]
	}
	return path
}

// unreachable counts joins down as a run would. If some tasks never become ready it returns the counters, else nil.
func (p *Plan) unreachable() []uint32 {
	join := append([]uint32(nil), p.Join...)
	var ready []uint32
	for i, n := range join {
		if n == 0 {
			ready = append(ready, uint32(i))
		}
	}
	done := 0
	for len(ready) > 0 {
		t := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		done++
		for _, s := range p.Precedes(t) {
			if join[s]--; join[s] == 0 {
				ready = append(ready, s)
			}
		}
	}
	if done == p.Len() {
		return nil
	}
	return join
}
