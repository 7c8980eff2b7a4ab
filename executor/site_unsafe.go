package executor

import "unsafe"

// codeOf returns the address of the code of the function, which is not nil.
func codeOf[F any](function *F) uintptr { return **(**uintptr)(unsafe.Pointer(function)) }
