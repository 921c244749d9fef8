#include "textflag.h"

// func descriptor() uintptr
TEXT ·descriptor(SB), NOSPLIT, $0-8
	MOVD g, ret+0(FP)
	RET
