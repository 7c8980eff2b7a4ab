//go:build !modelcheck

package gat

// slots is the number of slots.
const slots = 128
