package doctor

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"lockstep/app/record"
)

// describeSystem fills in what only this system tells.
func describeSystem(f *record.HostFacts) {
	f.Boot = contents("/proc/sys/kernel/random/boot_id")
	if network, err := os.Readlink("/proc/self/ns/net"); err == nil && f.Boot != "" {
		f.Boot += " " + network
	}
	load, _, _ := strings.Cut(contents("/proc/loadavg"), " ")
	f.Load, _ = strconv.ParseFloat(load, 64) // 0 if it is no number
	f.Governor = contents("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
	f.FileLimit, f.ProcessLimit = limitOf(unix.RLIMIT_NOFILE), limitOf(unix.RLIMIT_NPROC)
	var t unix.Timex
	if state, err := unix.Adjtimex(&t); err == nil {
		f.IsClockKnown, f.IsClockSynced = true, state != unix.TIME_ERROR && t.Status&unix.STA_UNSYNC == 0
	}
}

// contents returns a small file without the white space around it; "" if it cannot be read.
func contents(path string) string {
	text, _ := os.ReadFile(path) // a missing file means unknown
	return strings.TrimSpace(string(text))
}

// limitOf returns a limit of this process, 0 for none.
func limitOf(resource int) uint64 {
	var l unix.Rlimit
	if unix.Getrlimit(resource, &l) != nil || l.Cur == unix.RLIM_INFINITY {
		return 0
	}
	return l.Cur
}

// kindOf tells what is behind an interface: a device, a tunnel or a bridge. An end of a pair of a container
// or lab looks like a device with a link to another namespace and is taken for one.
func kindOf(i net.Interface) string {
	at := filepath.Join("/sys/class/net", i.Name)
	_, errBridge := os.Stat(filepath.Join(at, "bridge"))
	_, errTunnel := os.Stat(filepath.Join(at, "tun_flags"))
	path, _ := os.Readlink(at) // "": unknown
	switch {
	case i.Flags&net.FlagLoopback != 0:
		return kindLoopback
	case errBridge == nil || isContainerName(i.Name):
		return kindContainer
	case errTunnel == nil || i.Flags&net.FlagPointToPoint != 0 || strings.Contains(path, "/virtual/"):
		return kindVirtual
	}
	return kindPhysical
}

// mbitPerSec returns the speed that the driver of an interface tells, 0 if it tells none.
func mbitPerSec(name string) int {
	n, err := strconv.Atoi(contents(fmt.Sprintf("/sys/class/net/%s/speed", name)))
	if err != nil || n < 0 {
		return 0
	}
	return n
}
