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
	leastFiles  = 256       // sockets and files of a worker among hundreds
	leastMemory = 256 << 20 // for each worker
	leastDisk   = 64 << 20
	fewDisk     = 1 << 30
	busyShare   = 0.5 // of the cores that others keep busy
)

// topicDisk is the topic of findings about full disks.
const topicDisk = "disk"

// Advise says what hinders or slows down the workers of a host with so many slots, errors first.
func Advise(f record.HostFacts, slots int) []record.Finding {
	var found []record.Finding
	add := func(isFound bool, level, topic, next, format string, args ...any) {
		if isFound {
			found = append(found, record.Finding{Level: level, Topic: topic, Host: f.Label,
				Text: fmt.Sprintf(format, args...), Next: next})
		}
	}
	add(f.FreeMemoryBytes > 0 && f.FreeMemoryBytes/uint64(max(1, slots)) < leastMemory, record.LevelError,
		"memory", "end what else runs, or give the host fewer slots", "%s of memory is free for %s: less "+
			"than %s each", spelling.Size(f.FreeMemoryBytes), spelling.Count(slots, "worker"),
		spelling.Size(leastMemory))
	add(f.FileLimit > 0 && f.FileLimit < leastFiles, record.LevelError, "files", "ulimit -n 4096, or "+
		"LimitNOFILE= and limits.conf", "a process may have %d open files; a worker has one for each other "+
		"worker, and some more", f.FileLimit)
	for _, d := range f.Disks {
		text := fmt.Sprintf("%s is free of %s at %s", spelling.Size(d.FreeBytes),
			spelling.Size(d.TotalBytes), d.Path)
		isFull := d.FreeBytes < leastDisk
		add(d.TotalBytes > 0 && isFull, record.LevelError, topicDisk, "free some room", "%s: the %s folder "+
			"is full", text, d.Use)
		add(d.TotalBytes > 0 && !isFull && d.FreeBytes < fewDisk, record.LevelWarning, topicDisk,
			"free some room", "%s: a data set or a checkpoint may not fit", text)
	}
	add(f.Arch == "amd64" && !slices.Contains(f.ISA, "avx2"), record.LevelWarning, "processor", "choose a "+
		"machine with AVX2 and FMA, or let the virtual machine have them", "no AVX2: the plain kernels are "+
		"used, which take several times as long")
	add(slots > f.UsableCores, record.LevelWarning, "cores", "give the host fewer slots",
		"%d workers share %s", slots, spelling.Count(f.UsableCores, "core"))
	add(f.Load > busyShare*float64(max(1, f.LogicalCores)), record.LevelWarning, "load", "end what else "+
		"runs: top", "%.1f processes are ready to run, on %s: steps take longer and their times vary", f.Load,
		spelling.Count(f.LogicalCores, "core"))
	return sorted(found)
}

// sorted puts errors before warnings, as their names are.
func sorted(found []record.Finding) []record.Finding {
	slices.SortStableFunc(found, func(x, y record.Finding) int { return cmp.Compare(x.Level, y.Level) })
	return found
}

// Refusal is the error of hosts on which a job cannot run.
type Refusal struct {
	Findings []record.Finding // of level error, at least one
}

// Error has a line for each finding.
func (e *Refusal) Error() string {
	text := ""
	for i, f := range e.Findings {
		if i > 0 {
			text += "\n"
		}
		text += f.Topic + ": " + Line(f)
	}
	return text
}

// IsFull reports whether full disks are all that is wrong.
func (e *Refusal) IsFull() bool {
	return !slices.ContainsFunc(e.Findings, func(f record.Finding) bool { return f.Topic != topicDisk })
}

// Refuse returns a *Refusal with the findings that hinder a job, nil if there are none.
func Refuse(found []record.Finding) error {
	errors := slices.DeleteFunc(slices.Clone(found), func(f record.Finding) bool {
		return f.Level != record.LevelError
	})
	if len(errors) == 0 {
		return nil
	}
	return &Refusal{errors}
}
