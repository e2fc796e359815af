package doctor

import (
	"maps"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"lockstep/app/host"
	"lockstep/app/record"
	"lockstep/internal/regular"
)

// Places are the folders that a job writes to, by use, such as "cache" and "job". A folder that does not
// exist yet stands for the nearest one above it that does.
type Places map[string]string

// The uses of a job's folders.
const (
	UseCache = "cache" // the program's copy and data sets
	UseJob   = "job"   // results
)

// JobPlaces returns the folders to which a job on this machine writes.
func JobPlaces() Places {
	places := Places{UseJob: "."}
	if cache, err := os.UserCacheDir(); err == nil {
		places[UseCache] = filepath.Join(cache, "lockstep")
	}
	return places
}

// Describe returns the facts of this machine. It takes some milliseconds, and the time to hash the program
// the first time.
func Describe(places Places) record.HostFacts {
	f := record.HostFacts{Host: host.Describe(), Binary: binaryHash(), Affinity: runtime.NumCPU(),
		FreeMemoryBytes: host.FreeMemoryBytes(), SwapUsedBytes: host.SwapUsedBytes(),
		Interfaces: interfaces(), Disks: []record.Disk{}}
	f.Label = f.Name
	if f.UsableCores < f.Affinity {
		f.QuotaCores = float64(f.UsableCores)
	}
	f.Version, f.Revision = Version()
	f.User = userName()
	for _, use := range slices.Sorted(maps.Keys(places)) {
		f.Disks = append(f.Disks, describeDisk(use, places[use]))
	}
	describeSystem(&f)
	f.CoreLatency = float64(host.CoreLatency().Nanoseconds())
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

// userName returns the user's name, or the number where the system has no name.
func userName() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return strconv.Itoa(os.Getuid())
}

// binaryHash returns the SHA-256 of the program's file; "" if it cannot be read.
var binaryHash = sync.OnceValue(func() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	sum, _ := regular.Hash(path) // "" with an error
	return sum
})

// describeDisk tells the room where a folder is, or would be.
func describeDisk(use, folder string) record.Disk {
	at, err := filepath.Abs(folder)
	if err != nil {
		return record.Disk{Use: use, Path: folder}
	}
	d := record.Disk{Use: use, Path: at}
	for {
		if _, err := os.Stat(at); err == nil || at == filepath.Dir(at) {
			break
		}
		at = filepath.Dir(at)
	}
	d.FreeBytes, d.TotalBytes = host.Room(at)
	return d
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
	list, err := net.Interfaces()
	if err != nil {
		return found
	}
	for _, i := range list {
		if i.Flags&net.FlagUp == 0 {
			continue
		}
		one := record.Interface{Name: i.Name, Kind: kindOf(i), MTU: i.MTU, MbitPerSec: mbitPerSec(i.Name),
			Addresses: []string{}}
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

// isContainerName reports whether an interface is called as the bridges of containers and virtual machines
// are.
func isContainerName(name string) bool {
	prefixes := []string{"docker", "br-", "virbr", "cni", "podman", "lxc", "lxd", "vmnet", "veth"}
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}
