package doctor

import (
	"net"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockstep/app/host"
	"lockstep/app/record"
)

// Describe returns the facts of this machine, with the folders to which a job on it writes. It takes some
// milliseconds.
func Describe() record.HostFacts {
	f := record.HostFacts{Host: host.Describe(), Affinity: runtime.NumCPU(),
		FreeMemoryBytes: host.FreeMemoryBytes(), Interfaces: interfaces(),
		Disks: []record.Disk{disk("job", ".")}}
	f.Label = f.Name
	f.Version, f.Revision = Version()
	if cache, err := os.UserCacheDir(); err == nil {
		f.Disks = append(f.Disks, disk("cache", filepath.Join(cache, "lockstep")))
	}
	f.Load, f.FileLimit = host.Load(), fileLimit()
	f.ClockNanos = time.Now().UnixNano()
	return f
}

// Version returns the version of the program and the revision of its source.
func Version() (version, revision string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(devel)", ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			revision = s.Value
		}
	}
	return info.Main.Version, revision
}

// disk tells the room where a folder is, or would be.
func disk(use, folder string) record.Disk {
	at, err := filepath.Abs(folder)
	if err != nil {
		return record.Disk{Use: use, Path: folder}
	}
	d := record.Disk{Use: use, Path: at}
	for at != filepath.Dir(at) {
		if _, err := os.Stat(at); err == nil {
			break
		}
		at = filepath.Dir(at)
	}
	d.FreeBytes, d.TotalBytes = host.Room(at)
	return d
}

// fileLimit returns how many files this process may have open, 0 for any number.
func fileLimit() uint64 {
	limits, _ := os.ReadFile("/proc/self/limits")
	for line := range strings.Lines(string(limits)) {
		if rest, ok := strings.CutPrefix(line, "Max open files"); ok {
			n, _ := strconv.ParseUint(strings.Fields(rest)[0], 10, 64) // "unlimited"
			return n
		}
	}
	return 0
}

// Kinds of an interface.
const (
	kindPhysical  = "physical"
	kindLoopback  = "loopback"
	kindVirtual   = "virtual"   // a tunnel, or an end of a pair
	kindContainer = "container" // a bridge of containers or virtual machines on this host
)

// interfaces lists the interfaces that are up, with the addresses at which another host might reach them.
// Addresses of a single link (169.254/16, fe80::/10) mean nothing without an interface and are left out.
func interfaces() []record.Interface {
	found := []record.Interface{}
	list, _ := net.Interfaces() // a system that tells none has none
	for _, i := range list {
		if i.Flags&net.FlagUp == 0 {
			continue
		}
		one := record.Interface{Name: i.Name, Kind: kindOf(i), Addresses: []string{}}
		addresses, _ := i.Addrs() // an interface that has just gone has none
		for _, a := range addresses {
			n, ok := a.(*net.IPNet)
			if ok && !n.IP.IsLinkLocalUnicast() && !n.IP.IsMulticast() {
				one.Addresses = append(one.Addresses, n.IP.String())
			}
		}
		found = append(found, one)
	}
	return found
}

// kindOf tells what is behind an interface: a device, a tunnel or a bridge, by what Linux says of it and by
// the names that bridges of containers and virtual machines have. An end of a pair of a container or lab
// looks like a device with a link to another namespace and is taken for one.
func kindOf(i net.Interface) string {
	names := []string{"docker", "br-", "virbr", "cni", "podman", "lxc", "lxd", "vmnet", "veth"}
	isNamed := slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(i.Name, name) })
	at := filepath.Join("/sys/class/net", i.Name)
	_, errBridge := os.Stat(filepath.Join(at, "bridge"))
	path, _ := os.Readlink(at) // "": unknown
	switch {
	case i.Flags&net.FlagLoopback != 0:
		return kindLoopback
	case errBridge == nil || isNamed:
		return kindContainer
	case i.Flags&net.FlagPointToPoint != 0 || strings.Contains(path, "/virtual/"):
		return kindVirtual
	}
	return kindPhysical
}
