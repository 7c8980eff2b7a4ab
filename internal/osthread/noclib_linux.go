//go:build linux && !cgo && !modelcheck

package osthread

const hasCLibrary = false
