package doctor

import (
	"cmp"
	"fmt"
	"slices"

	"lockstep/app/record"
	"lockstep/internal/spelling"
)

// Bounds below which a fact of a host is worth a word. The memory is that of a worker of the smallest network
// with its data set; a disk must hold the program (20 MB), a data set (CIFAR-10: 170 MB) and checkpoints.
const (
	leastFiles     = 256       // sockets and files of a worker among hundreds
	fewFiles       = 1024      // the usual default
	fewProcesses   = 1024      // the Go runtime of a worker starts a thread for each core, and some more
	leastMemory    = 256 << 20 // for each worker
	fewMemory      = 1 << 30
	leastDisk      = 64 << 20
	fewDisk        = 1 << 30
	muchSwap       = 256 << 20
	busyShare      = 0.5 // of the cores that others keep busy
	unsteadyPolicy = "powersave"
)

// Advise says what hinders or slows down the workers of a host with so many slots. Findings are in order of
// their weight.
func Advise(f record.HostFacts, slots int) []record.Finding {
	a := advice{host: f.Label}
	a.processor(f, slots)
	a.memory(f, slots)
	a.limits(f)
	for _, d := range f.Disks {
		a.disk(d)
	}
	if f.IsClockKnown && !f.IsClockSynced {
		a.add(record.LevelNote, "clock", "nothing keeps the clock right: certificates and tokens are valid "+
			"for a time, and logs of hosts are compared by it", "timedatectl set-ntp true")
	}
	return sorted(a.found)
}

// advice collects the findings on a host.
type advice struct {
	host  string
	found []record.Finding
}

func (a *advice) add(level, topic, text, next string) {
	a.found = append(a.found, record.Finding{Level: level, Topic: topic, Host: a.host, Text: text,
		Next: next})
}

func (a *advice) processor(f record.HostFacts, slots int) {
	if f.Arch == "amd64" && !slices.Contains(f.ISA, "avx2") {
		a.add(record.LevelWarning, "processor", "no AVX2: the plain kernels are used, which take several "+
			"times as long", "choose a machine with AVX2 and FMA, or let the virtual machine have them")
	}
	if slots > f.UsableCores {
		a.add(record.LevelWarning, "cores", fmt.Sprintf("%d workers share %s", slots, cores(f.UsableCores)),
			fmt.Sprintf("give the host at most %d slots", f.UsableCores))
	}
	if f.UsableCores < f.LogicalCores {
		a.add(record.LevelNote, "cores", fmt.Sprintf("%d of %s can be used%s", f.UsableCores,
			cores(f.LogicalCores), reason(f)), "")
	}
	if f.Load > busyShare*float64(max(1, f.LogicalCores)) {
		a.add(record.LevelWarning, "load", fmt.Sprintf("%.1f processes are ready to run, on %s: steps take "+
			"longer and their times vary", f.Load, cores(f.LogicalCores)), "end what else runs: top")
	}
	if f.CoreLatency >= record.FarLatency && f.UsableCores <= record.CacheCores {
		a.add(record.LevelNote, "cores", fmt.Sprintf("the cores are far apart, %.0f ns for a cache line "+
			"where one cache takes 50 to 100: threads that share work are slower, workers hardly",
			f.CoreLatency), "on the host of a virtual machine, pin its cores to one cache; or --workers in "+
			"place of --threads")
	}
	if f.Governor == unsteadyPolicy {
		a.add(record.LevelNote, "frequency", "the governor is powersave: processors may run below their "+
			"speed",
			"echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor")
	}
}

// reason says what keeps a process from some cores.
func reason(f record.HostFacts) string {
	switch {
	case f.QuotaCores > 0 && f.QuotaCores < float64(f.Affinity):
		return fmt.Sprintf(": the control group allows %.3g", f.QuotaCores)
	case f.Affinity < f.LogicalCores:
		return ": the process is bound to those (taskset, cpuset)"
	}
	return ""
}

func (a *advice) memory(f record.HostFacts, slots int) {
	each := f.FreeMemoryBytes / uint64(max(1, slots))
	text := fmt.Sprintf("%s of memory is free for %s and what they share", bytesText(f.FreeMemoryBytes),
		workers(slots))
	switch {
	case f.FreeMemoryBytes == 0:
	case each < leastMemory:
		a.add(record.LevelError, "memory", text+fmt.Sprintf(": less than %s each", bytesText(leastMemory)),
			"end what else runs, or give the host fewer slots")
	case each < fewMemory:
		a.add(record.LevelNote, "memory", text, "")
	}
	if f.SwapUsedBytes > muchSwap {
		a.add(record.LevelWarning, "swap", bytesText(f.SwapUsedBytes)+" of memory is on disk: a step that "+
			"needs it waits", "free memory, then sudo swapoff -a && sudo swapon -a")
	}
}

func (a *advice) limits(f record.HostFacts) {
	if f.FileLimit > 0 && f.FileLimit < fewFiles {
		level := record.LevelWarning
		if f.FileLimit < leastFiles {
			level = record.LevelError
		}
		a.add(level, "files", fmt.Sprintf("a process may have %d open files; a worker has one for each "+
			"other "+
			"worker, and some more", f.FileLimit), "ulimit -n 4096, or LimitNOFILE= and limits.conf")
	}
	if f.ProcessLimit > 0 && f.ProcessLimit < fewProcesses {
		a.add(record.LevelWarning, "processes", fmt.Sprintf("the user may have %d processes and threads "+
			"in all",
			f.ProcessLimit), "ulimit -u 4096, or limits.conf")
	}
}

func (a *advice) disk(d record.Disk) {
	if d.TotalBytes == 0 {
		return
	}
	text := fmt.Sprintf("%s is free of %s at %s", bytesText(d.FreeBytes), bytesText(d.TotalBytes), d.Path)
	next := "free some room"
	if d.Use == UseCache {
		next += ", or name another place in XDG_CACHE_HOME"
	}
	switch {
	case d.FreeBytes < leastDisk:
		a.add(record.LevelError, TopicDisk, text+": the "+d.Use+" folder is full", next)
	case d.FreeBytes < fewDisk:
		a.add(record.LevelWarning, TopicDisk, text+": a data set or a checkpoint may not fit", next)
	}
}

// TopicDisk is the topic of findings about full disks.
const TopicDisk = "disk"

// sorted puts errors before warnings before notes.
func sorted(found []record.Finding) []record.Finding {
	order := []string{record.LevelError, record.LevelWarning, record.LevelNote}
	slices.SortStableFunc(found, func(x, y record.Finding) int {
		return cmp.Compare(slices.Index(order, x.Level), slices.Index(order, y.Level))
	})
	return found
}

func cores(n int) string   { return spelling.Count(n, "core") }
func workers(n int) string { return spelling.Count(n, "worker") }

// bytesText formats a size with three digits at most.
func bytesText(n uint64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB"}
	v, unit := float64(n), 0
	for v >= 1000 && unit < len(units)-1 {
		v, unit = v/1024, unit+1
	}
	return fmt.Sprintf("%.3g %s", v, units[unit])
}
