//go:build !amd64 && !modelcheck

package peer

// threadPointer returns 0: to read the thread pointer takes assembly here.
func threadPointer() uintptr { return 0 }
