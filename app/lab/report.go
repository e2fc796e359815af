package lab

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// Report is what a lab has counted.
type Report struct {
	Network string       `json:"network"` // what carried the packets: NetworkKernel or NetworkEmulator
	Why     string       `json:"why"`     // that it did
	Seed    uint64       `json:"seed"`
	Seconds float64      `json:"seconds"` // for which the command ran
	Hosts   []HostReport `json:"hosts"`

	isLossy bool // losses or cuts were asked for
}

// Names of networks.
const (
	NetworkKernel   = "kernel"
	NetworkEmulator = "emulator"
)

// HostReport holds the counters of one host's link, and mean rates in bits per second.
type HostReport struct {
	Name    string `json:"name"`
	Address string `json:"address"`
	Link    string `json:"link"`
	Counts
	SendRate    float64 `json:"send_rate"`
	ReceiveRate float64 `json:"receive_rate"`
}

// finish fills in the rates.
func (r *Report) finish() {
	for i := range r.Hosts {
		h := &r.Hosts[i]
		h.SendRate = 8 * float64(h.Sent) / r.Seconds
		h.ReceiveRate = 8 * float64(h.Received) / r.Seconds
	}
}

// Text writes the report as a table, and says where lost packets come from if none were asked for.
func (r *Report) Text(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "host\taddress\tlink\tsent\treceived\tlost packets\tmean rates, sent and received")
	lost := uint64(0)
	for _, h := range r.Hosts {
		lost += h.Lost
		fmt.Fprintf(t, "%s\t%s\t%s\t%.2f MB\t%.2f MB\t%d\t%s, %s\n", h.Name, h.Address, h.Link,
			float64(h.Sent)/1e6, float64(h.Received)/1e6, h.Lost, FormatRate(h.SendRate),
			FormatRate(h.ReceiveRate))
	}
	if lost > 0 && !r.isLossy {
		fmt.Fprintln(t, "Lost packets found the queue of a link full, as in a router; TCP sent them again.")
	}
	return t.Flush()
}
