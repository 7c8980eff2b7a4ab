package jet

import "sync"

// A recent is a map of bounded size that forgets what was not used for long. Any thread.
type recent[K comparable, V any] struct {
	size int // at most twice as many entries are kept

	mu       sync.Mutex
	new, old map[K]V // an entry that is used moves from old to new, and if new is full it becomes old
}

// get returns the value of k, if it is known.
func (r *recent[K, V]) get(k K) (v V, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lookup(k)
}

func (r *recent[K, V]) lookup(k K) (v V, known bool) {
	if v, known = r.new[k]; known {
		return v, true
	}
	if v, known = r.old[k]; known {
		r.store(k, v)
	}
	return v, known
}

// put makes v the value of k, unless keep says of the value that is known that it stays. keep may be nil.
func (r *recent[K, V]) put(k K, v V, keep func(has V) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if has, known := r.lookup(k); known && keep != nil && keep(has) {
		return
	}
	r.store(k, v)
}

// clear forgets all.
func (r *recent[K, V]) clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.new, r.old = nil, nil
}

func (r *recent[K, V]) store(k K, v V) {
	if _, there := r.new[k]; !there && len(r.new) >= r.size || r.new == nil {
		r.old, r.new = r.new, make(map[K]V)
	}
	r.new[k] = v
}
