package executor

import "unsafe"

// codeOf returns the address of the code of *function, which is not nil. It tells sites apart.
func codeOf[F any](function *F) uintptr { return **(**uintptr)(unsafe.Pointer(function)) }
