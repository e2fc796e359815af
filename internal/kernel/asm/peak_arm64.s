//go:build arm64 && !purego

#include "textflag.h"

// A multiply-add overwrites its addend on arm64, which here is the constant. FRECPS, 2 - a*b in another register,
// is done by the same pipes in the same time: with sums twice as large, 2 + s/2 is twice what is wanted.
#define DOUBLE(n) WORD $(0x4e20d400 + n*0x10021) // FADD Vn.4S, Vn.4S, Vn.4S
#define STEP(n) WORD $(0x4e3ffc00 + n*0x21) // FRECPS Vn.4S, Vn.4S, V31.4S
#define HALVE(n) WORD $(0x6e3edc00 + n*0x21) // FMUL Vn.4S, Vn.4S, V30.4S
#define EACH(f) f(0); f(1); f(2); f(3); f(4); f(5); f(6); f(7); f(8); f(9); f(10); f(11); f(12); f(13); \
	f(14); f(15); f(16); f(17); f(18); f(19); f(20); f(21); f(22); f(23)

// func peakNEON(sums []float32, turns int)
TEXT ·peakNEON(SB), NOSPLIT, $0-32
	MOVD  sums_base+0(FP), R0
	MOVD  turns+24(FP), R1
	FMOVS $-0.5, F31
	FMOVS $0.5, F30
	VDUP  V31.S[0], V31.S4
	VDUP  V30.S[0], V30.S4
	FLDPQ (R0), (F0, F1)
	FLDPQ 32(R0), (F2, F3)
	FLDPQ 64(R0), (F4, F5)
	FLDPQ 96(R0), (F6, F7)
	FLDPQ 128(R0), (F8, F9)
	FLDPQ 160(R0), (F10, F11)
	FLDPQ 192(R0), (F12, F13)
	FLDPQ 224(R0), (F14, F15)
	FLDPQ 256(R0), (F16, F17)
	FLDPQ 288(R0), (F18, F19)
	FLDPQ 320(R0), (F20, F21)
	FLDPQ 352(R0), (F22, F23)
	EACH(DOUBLE)

turn:
	EACH(STEP)
	SUBS $1, R1
	BNE  turn
	EACH(HALVE)
	FSTPQ (F0, F1), (R0)
	FSTPQ (F2, F3), 32(R0)
	FSTPQ (F4, F5), 64(R0)
	FSTPQ (F6, F7), 96(R0)
	FSTPQ (F8, F9), 128(R0)
	FSTPQ (F10, F11), 160(R0)
	FSTPQ (F12, F13), 192(R0)
	FSTPQ (F14, F15), 224(R0)
	FSTPQ (F16, F17), 256(R0)
	FSTPQ (F18, F19), 288(R0)
	FSTPQ (F20, F21), 320(R0)
	FSTPQ (F22, F23), 352(R0)
	RET
