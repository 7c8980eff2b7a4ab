//go:build linux && cgo && !modelcheck

package osthread

// hasCLibrary reports whether the C library may start the process's threads.
const hasCLibrary = true
