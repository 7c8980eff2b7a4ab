//go:build modelcheck

package park

// A LongParker is a [Parker].
type LongParker struct{ Parker }
