//go:build modelcheck

package deque

// minCapacity is so small that small programs go round the ring and grow it.
const minCapacity = 2

// patience is so short that it may end before the item comes.
const patience = 2
