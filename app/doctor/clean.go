package doctor

import (
	"errors"
	"strings"
	"unicode"

	"lockstep/app/record"
)

// Bounds of the facts of a host.
const (
	maxText       = 200 // characters of a text
	maxInterfaces = 64
	maxAddresses  = 64 // of an interface
	maxDisks      = 8
	maxISAs       = 16
)

// maxCount bounds numbers of cores and slots, so that products of them fit.
const maxCount = 1 << 20

// clean bounds facts that came from another machine: its texts have no control characters and its lists an
// end.
func clean(f *record.HostFacts) {
	for _, text := range []*string{&f.Name, &f.OS, &f.Platform, &f.Kernel, &f.Arch, &f.CPU, &f.Go, &f.Lab,
		&f.Label, &f.Address, &f.Why, &f.Version, &f.Revision, &f.Binary, &f.User, &f.Boot, &f.Governor} {
		*text = clip(*text)
	}
	for _, n := range []*int{&f.PhysicalCores, &f.LogicalCores, &f.UsableCores, &f.Affinity} {
		*n = min(max(*n, 0), maxCount)
	}
	f.GPU, f.GPUs, f.NoGPU = nil, 0, "" // which are told of this machine only
	f.ISA = f.ISA[:min(len(f.ISA), maxISAs)]
	for i, isa := range f.ISA {
		f.ISA[i] = clip(isa)
	}
	f.Disks = f.Disks[:min(len(f.Disks), maxDisks)]
	for i := range f.Disks {
		f.Disks[i].Use, f.Disks[i].Path = clip(f.Disks[i].Use), clip(f.Disks[i].Path)
	}
	f.Interfaces = f.Interfaces[:min(len(f.Interfaces), maxInterfaces)]
	for i := range f.Interfaces {
		one := &f.Interfaces[i]
		one.Name, one.Kind = clip(one.Name), clip(one.Kind)
		one.Addresses = one.Addresses[:min(len(one.Addresses), maxAddresses)]
		for j, a := range one.Addresses {
			one.Addresses[j] = clip(a)
		}
	}
}

// clip shortens a text and replaces what a terminal would obey.
func clip(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, text)
	if runes := []rune(text); len(runes) > maxText {
		text = string(runes[:maxText])
	}
	return text
}

// errProbe is the error of figures that no probe can have found.
var errProbe = errors.New("a result of a probe with impossible figures")

// Bounds of the figures of a probe.
const (
	maxSeconds = 1e3  // of a round trip
	maxRate    = 1e13 // bytes per second
	maxOffset  = 1e10 // seconds
)

// check refuses figures out of bounds.
func (p probe) check() error {
	isWithin := func(v, least, most float64) bool { return v >= least && v <= most } // NaN is not
	if !isWithin(p.Latency, 0, maxSeconds) || !isWithin(p.Error, 0, maxSeconds) ||
		!isWithin(p.Rate, 0, maxRate) || !isWithin(p.Offset, -maxOffset, maxOffset) {
		return errProbe
	}
	return nil
}
