//go:build !modelcheck

#include "textflag.h"

// func fsBase() int64
TEXT ·fsBase(SB), NOSPLIT, $0-8
	RDFSBASEQ AX
	MOVQ      AX, ret+0(FP)
	RET
