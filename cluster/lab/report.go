package lab

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// Report is what a lab has counted.
type Report struct {
	IsEmulated bool // the lab's own thread carried the packets; false: the kernel did
	Hosts      []HostReport
}

// HostReport holds the counters of one host's link.
type HostReport struct {
	Name, Address string
	Counts
}

// Text writes the report as a table. The kernel does not tell what it has lost.
func (r *Report) Text(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "host\taddress\tsent\treceived\tlost packets")
	for _, h := range r.Hosts {
		lost := "-"
		if r.IsEmulated {
			lost = fmt.Sprint(h.Lost)
		}
		fmt.Fprintf(t, "%s\t%s\t%.2f MB\t%.2f MB\t%s\n", h.Name, h.Address,
			float64(h.Sent)/1e6, float64(h.Received)/1e6, lost)
	}
	return t.Flush()
}
