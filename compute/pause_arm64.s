//go:build arm64 && !purego

#include "textflag.h"

// func pause()
TEXT ·pause(SB), NOSPLIT, $0
	ISB	$15
	ISB	$15
	ISB	$15
	ISB	$15
	RET
