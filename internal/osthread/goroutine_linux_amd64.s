//go:build !modelcheck

#include "textflag.h"

// func Goroutine() uint64
TEXT ·Goroutine(SB), NOSPLIT, $0-8
	MOVQ TLS, CX // the two lines become one where the linker knows the place: not in a shared library
	MOVQ 0(CX)(TLS*1), AX
	MOVQ AX, ret+0(FP)
	RET
