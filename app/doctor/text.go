package doctor

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"lockstep/app/record"
)

const (
	width       = 80   // of a terminal
	matrixMost  = 8    // hosts whose routes are shown in a matrix
	shownOffset = 1e-3 // s: smaller ones of clocks are not told apart
	labelMost   = 12   // characters of a host's name in a table
)

// Text writes the facts, the routes between hosts and the findings for a terminal of 80 columns.
func Text(w io.Writer, h *record.Hosts) error {
	var b strings.Builder
	if len(h.Hosts) == 1 {
		factsList(&b, h.Hosts[0])
	} else {
		factsTable(&b, h.Hosts)
		b.WriteString("\n")
		addresses(&b, h.Hosts)
		if len(h.Hosts) <= matrixMost {
			b.WriteString("\n")
			matrix(&b, h)
		}
	}
	b.WriteString("\n")
	findings(&b, h.Findings, len(h.Hosts) == 1)
	_, err := io.WriteString(w, b.String())
	return err
}

// Line returns what a finding says and what mends it, in one line.
func Line(f record.Finding) string {
	text := f.Text
	if f.Host != "" {
		text = f.Host + ": " + text
	}
	if f.Next != "" {
		text += " → " + f.Next
	}
	return text
}

// factsList shows the facts of one host, a line for each kind.
func factsList(b *strings.Builder, f record.HostFacts) {
	memory := fmt.Sprintf("%s free of %s", bytesText(f.FreeMemoryBytes), bytesText(f.MemoryBytes))
	if f.SwapUsedBytes > 0 {
		memory += fmt.Sprintf(", %s on disk", bytesText(f.SwapUsedBytes))
	}
	lines := [][2]string{
		{"host", fmt.Sprintf("%s, user %s", f.Label, f.User)},
		{"lockstep", versionText(f)},
		{"system", strings.Join(strings.Fields(f.Platform+" "+f.Kernel+" "+f.Arch), " ")},
		{"processor", fmt.Sprintf("%s, %s cores%s", f.CPU, coresText(f), reason(f))},
		{"latency", latencyText(f.CoreLatency, f.UsableCores)},
		{"kernels", strings.Join(f.ISA, ", ")},
		{"memory", memory},
	}
	if text := gpuText(f); text != "" {
		lines = append(lines, [2]string{"gpu", text})
	}
	for _, d := range f.Disks {
		lines = append(lines, [2]string{"disk", fmt.Sprintf("%s: %s free of %s, %s", d.Use,
			bytesText(d.FreeBytes), bytesText(d.TotalBytes), d.Path)})
	}
	for _, i := range f.Interfaces {
		kind := i.Kind
		if i.MbitPerSec > 0 {
			kind += fmt.Sprintf(", %s", rateText(1e6/8*float64(i.MbitPerSec)))
		}
		lines = append(lines, [2]string{"network", fmt.Sprintf("%s (%s) %s", i.Name, kind,
			strings.Join(i.Addresses, ", "))})
	}
	limits := limitText(f.FileLimit, "open files") + ", " + limitText(f.ProcessLimit, "processes")
	clock := time.Unix(0, f.ClockNanos).UTC().Format(time.DateTime) + " UTC, " + clockText(f, 0, 1)
	lines = append(lines, [2]string{"limits", limits}, [2]string{"clock", clock},
		[2]string{"load", fmt.Sprintf("%.1f", f.Load)})
	for _, line := range lines {
		wrap(b, fmt.Sprintf("%-10s", line[0]), line[1], strings.Repeat(" ", 11))
	}
}

// gpuText says which GPUs the program can use; "" if it was not asked.
func gpuText(f record.HostFacts) string {
	g := f.GPU
	switch {
	case f.NoGPU != "":
		return "none that this binary can use: " + f.NoGPU
	case g == nil:
		return ""
	}
	text := fmt.Sprintf("%s, %s", g.Name, bytesText(uint64(max(0, g.MemoryBytes))))
	if f.GPUs > 1 {
		text = fmt.Sprintf("%d, the first is %s", f.GPUs, text)
	}
	text += fmt.Sprintf(", driver for CUDA %d.%d", g.Driver/1000, g.Driver%1000/10)
	return strings.Join(append([]string{text}, g.Libraries...), ", ")
}

// latencyText words a core-to-core latency in nanoseconds, of so many cores.
func latencyText(nanos float64, cores int) string {
	switch {
	case cores < 2:
		return "none between cores: there is one"
	case nanos == 0:
		return "between cores not known: they are too busy"
	}
	return fmt.Sprintf("%.0f ns for a cache line to the farthest core and back; in one cache 50 to 100",
		nanos)
}

// limitText formats a limit on things.
func limitText(most uint64, things string) string {
	if most == 0 {
		return "any number of " + things
	}
	return fmt.Sprintf("%d %s", most, things)
}

func factsTable(b *strings.Builder, hosts []record.HostFacts) {
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "host\tslots\tcores\tkernels\tmemory free\tdisk free\tload\tclock")
	for i, f := range hosts {
		cells := []string{short(f.Label, labelMost), fmt.Sprint(f.Slots), coresText(f), best(f.ISA),
			bytesText(f.FreeMemoryBytes), diskText(f.Disks), fmt.Sprintf("%.1f", f.Load),
			clockText(f, i, len(hosts))}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	w.Flush() // to a strings.Builder
}

func coresText(f record.HostFacts) string {
	if f.UsableCores < f.LogicalCores {
		return fmt.Sprintf("%d of %d", f.UsableCores, f.LogicalCores)
	}
	return fmt.Sprint(f.UsableCores)
}

// best returns the last of the kernel paths.
func best(isas []string) string {
	if len(isas) == 0 {
		return "-"
	}
	return isas[len(isas)-1]
}

// diskText shows the disk with the least room.
func diskText(disks []record.Disk) string {
	text, least := "-", uint64(0)
	for _, d := range disks {
		if d.TotalBytes > 0 && (text == "-" || d.FreeBytes < least) {
			text, least = bytesText(d.FreeBytes), d.FreeBytes
		}
	}
	return text
}

func clockText(f record.HostFacts, i, num int) string {
	switch {
	case num == 1 && !f.IsClockKnown:
		return "synchronisation unknown"
	case num == 1 && f.IsClockSynced:
		return "synchronised"
	case num == 1:
		return "not synchronised"
	case i == 0:
		return "0"
	case math.Abs(f.ClockOffset) < shownOffset:
		return "±1 ms"
	case f.ClockOffset < 0:
		return "-" + durationText(-f.ClockOffset)
	}
	return "+" + durationText(f.ClockOffset)
}

// addresses shows the chosen addresses with the reasons.
func addresses(b *strings.Builder, hosts []record.HostFacts) {
	for i, f := range hosts {
		at := f.Address
		if name := interfaceOf(f, f.Address); name != "" {
			at += " (" + name + ")"
		}
		if at == "" {
			at = "has no address that all reach"
		} else {
			at += ": " + f.Why
		}
		wrap(b, fmt.Sprintf("%-3d%-*s", i, labelMost, short(f.Label, labelMost)), at, "       ")
	}
}

// matrix shows latency and rate from each host to each.
func matrix(b *strings.Builder, h *record.Hosts) {
	for _, part := range []struct {
		title string
		show  func(record.Route) string
	}{
		{"round trip, from row to column", func(r record.Route) string {
			return strings.ReplaceAll(durationText(r.Latency), " ", "")
		}},
		{"Mbit/s of one stream", func(r record.Route) string {
			if r.Rate == 0 {
				return "?"
			}
			return fmt.Sprintf("%.0f", 8*r.Rate/1e6)
		}},
	} {
		fmt.Fprintln(b, part.title)
		w := tabwriter.NewWriter(b, 0, 0, 1, ' ', tabwriter.AlignRight)
		for to := range h.Hosts {
			fmt.Fprintf(w, "\t%d", to)
		}
		fmt.Fprintln(w, "\t")
		for from := range h.Hosts {
			fmt.Fprint(w, from)
			for to := range h.Hosts {
				fmt.Fprintf(w, "\t%s", cellOf(h, from, to, part.show))
			}
			fmt.Fprintln(w, "\t")
		}
		w.Flush() // to a strings.Builder
	}
}

// cellOf shows the chosen route between two hosts, or that there is none.
func cellOf(h *record.Hosts, from, to int, show func(record.Route) string) string {
	text := "no"
	if from == to {
		text = "-"
	}
	for _, r := range h.Routes {
		switch {
		case r.From != from || r.To != to || r.Fault != "":
		case r.IsChosen:
			return show(r)
		default:
			text = "open"
		}
	}
	return text
}

// findings lists what was found, wrapped to the width.
func findings(b *strings.Builder, found []record.Finding, isAlone bool) {
	if len(found) == 0 {
		b.WriteString("nothing found that hinders a job or slows it down\n")
	}
	for _, f := range found {
		if isAlone {
			f.Host = ""
		}
		next := f.Next
		f.Next = ""
		wrap(b, f.Level+":", Line(f), "  ")
		if next != "" {
			wrap(b, "  →", next, "    ")
		}
	}
}

// wrap writes a text behind its head in lines of the width; all but the first are indented.
func wrap(b *strings.Builder, head, text, indent string) {
	line := head
	for word := range strings.FieldsSeq(text) {
		if utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			fmt.Fprintln(b, line)
			line = indent[1:]
		}
		line += " " + word
	}
	fmt.Fprintln(b, line)
}

// short shortens a name, keeping its end visible by dots.
func short(name string, most int) string {
	runes := []rune(name)
	if len(runes) <= most {
		return name
	}
	return string(runes[:most-1]) + "…"
}
