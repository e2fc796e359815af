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
	"lockstep/internal/spelling"
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
	}
	if n := len(h.Hosts); n > 1 && n <= matrixMost {
		matrix(&b, h, "round trip, from row to column", func(r record.Route) string {
			return durationText(r.Latency)
		})
		matrix(&b, h, "Mbit/s of one stream", func(r record.Route) string {
			if r.Rate == 0 {
				return "?"
			}
			return fmt.Sprintf("%.0f", 8*r.Rate/1e6)
		})
	}
	b.WriteString("\n")
	findings(&b, h.Findings)
	_, err := io.WriteString(w, spelling.PlainLines(b.String()))
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
	lines := [][2]string{
		{"host", f.Label},
		{"lockstep", strings.TrimSpace(f.Version + " " + f.Revision)},
		{"processor", fmt.Sprintf("%s, %s cores", f.CPU, coresText(f))},
		{"kernels", strings.Join(f.ISA, ", ")},
		{"memory", fmt.Sprintf("%s free of %s", spelling.Size(f.FreeMemoryBytes),
			spelling.Size(f.MemoryBytes))},
	}
	if text := gpuText(f); text != "" {
		lines = append(lines, [2]string{"gpu", text})
	}
	for _, d := range f.Disks {
		lines = append(lines, [2]string{"disk", fmt.Sprintf("%s: %s free of %s, %s", d.Use,
			spelling.Size(d.FreeBytes), spelling.Size(d.TotalBytes), d.Path)})
	}
	for _, line := range append(lines, [2]string{"load", fmt.Sprintf("%.1f", f.Load)}) {
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
	text := fmt.Sprintf("%s, %s", g.Name, spelling.Size(g.MemoryBytes))
	if f.GPUs > 1 {
		text = fmt.Sprintf("%d, the first is %s", f.GPUs, text)
	}
	text += fmt.Sprintf(", driver for CUDA %d.%d", g.Driver/1000, g.Driver%1000/10)
	return strings.Join(append([]string{text}, g.Libraries...), ", ")
}

func factsTable(b *strings.Builder, hosts []record.HostFacts) {
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "host\tslots\tcores\tkernels\tmemory free\tdisk free\tload\tclock")
	for _, f := range hosts {
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\t%s\t%.1f\t%s\n", short(f.Label), f.Slots, coresText(f),
			best(f.ISA), spelling.Size(f.FreeMemoryBytes), diskText(f.Disks), f.Load,
			clockText(f.ClockOffset))
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
			text, least = spelling.Size(d.FreeBytes), d.FreeBytes
		}
	}
	return text
}

// clockText shows how far a clock is ahead of the first host's.
func clockText(offset float64) string {
	switch {
	case math.Abs(offset) < shownOffset:
		return "±1ms"
	case offset < 0:
		return "-" + durationText(-offset)
	}
	return "+" + durationText(offset)
}

// addresses shows the chosen addresses with the reasons.
func addresses(b *strings.Builder, hosts []record.HostFacts) {
	for i, f := range hosts {
		at := "has no address that all reach"
		if f.Address != "" {
			at = fmt.Sprintf("%s (%s): %s", f.Address, interfaceOf(f, f.Address), f.Why)
		}
		wrap(b, fmt.Sprintf("%-3d%-*s", i, labelMost, short(f.Label)), at, "       ")
	}
}

// matrix shows something of the route from each host to each.
func matrix(b *strings.Builder, h *record.Hosts, title string, show func(record.Route) string) {
	fmt.Fprintf(b, "\n%s\n", title)
	w := tabwriter.NewWriter(b, 0, 0, 1, ' ', tabwriter.AlignRight)
	for to := range h.Hosts {
		fmt.Fprintf(w, "\t%d", to)
	}
	fmt.Fprintln(w, "\t")
	for from := range h.Hosts {
		fmt.Fprint(w, from)
		for to := range h.Hosts {
			fmt.Fprintf(w, "\t%s", cellOf(h, from, to, show))
		}
		fmt.Fprintln(w, "\t")
	}
	w.Flush() // to a strings.Builder
}

// cellOf shows the chosen route between two hosts, or that there is none.
func cellOf(h *record.Hosts, from, to int, show func(record.Route) string) string {
	if from == to {
		return "-"
	}
	for _, r := range h.Routes {
		if r.From == from && r.To == to && r.IsChosen && r.Fault == "" {
			return show(r)
		}
	}
	return "no"
}

// findings lists what was found, wrapped to the width.
func findings(b *strings.Builder, found []record.Finding) {
	if len(found) == 0 {
		b.WriteString("nothing found that hinders a job or slows it down\n")
	}
	for _, f := range found {
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

// short shortens a host's name for a table.
func short(name string) string {
	runes := []rune(name)
	if len(runes) <= labelMost {
		return name
	}
	return string(runes[:labelMost-1]) + "…"
}

// durationText formats seconds with three digits, or to the second.
func durationText(seconds float64) string {
	d, digit := time.Duration(seconds*1e9), time.Duration(1)
	for digit < time.Second && digit*1000 <= d {
		digit *= 10
	}
	return d.Round(digit).String()
}
