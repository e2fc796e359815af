//go:build !linux

package doctor

import (
	"net"

	"lockstep/app/record"
)

// describeSystem adds nothing: this system tells no more.
func describeSystem(*record.HostFacts) {}

// kindOf tells what the flags and the name of an interface say.
func kindOf(i net.Interface) string {
	switch {
	case i.Flags&net.FlagLoopback != 0:
		return kindLoopback
	case isContainerName(i.Name):
		return kindContainer
	case i.Flags&net.FlagPointToPoint != 0:
		return kindVirtual
	}
	return kindPhysical
}

// mbitPerSec is not known here.
func mbitPerSec(string) int { return 0 }
