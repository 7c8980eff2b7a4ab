package cluster

import (
	"sync"

	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
)

// A tally counts the attempts of a run that have brought no output, from their records. Any thread.
type tally struct {
	mu    sync.Mutex
	parts map[string]int // by the key of a record
	sum   int
	whole bool // all records that there were are counted
}

// begin forgets what was counted: a server that has lost its store has other records.
func (t *tally) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.parts, t.sum, t.whole = nil, 0, false
}

// note counts a record that was written. One that cannot be read counts nothing.
func (t *tally) note(key string, value []byte) {
	n := 0
	if tries, err := wire.DecodeTries(value); err == nil {
		n = tries.Failed + tries.Lost + tries.Missing
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.parts == nil {
		t.parts = map[string]int{}
	}
	t.sum += n - t.parts[key]
	t.parts[key] = n
}

// complete notes that all records were counted.
func (t *tally) complete() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.whole = true
}

// count returns how many attempts there were, and whether these are all.
func (t *tally) count() (n int, whole bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sum, t.whole
}
