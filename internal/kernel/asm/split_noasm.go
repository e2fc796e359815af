//go:build (!amd64 && !arm64) || purego

package asm

import "lockstep/compute"

// splitFor returns the portable products of parts.
func splitFor(_ compute.ISA, parts int) SplitOps { return plainSplit(parts) }
