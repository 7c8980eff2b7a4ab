package graph

// MaxIdleStates is maxIdleStates.
const MaxIdleStates = maxIdleStates

// IdleStates is how many run states g keeps for later runs.
func IdleStates(g *Graph) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.states)
}
