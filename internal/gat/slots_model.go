//go:build modelcheck

package gat

// slots is small under the model checker, which explores each access to each slot.
const slots = 3
