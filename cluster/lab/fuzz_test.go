package lab_test

import (
	"testing"

	"lockstep/cluster/lab"
)

// FuzzFlags reads one text as each of the values that describe a lab.
func FuzzFlags(f *testing.F) {
	for _, text := range []string{"2.5Gbit/s", "100mbit", "0.1%", "2=100mbit", "3@10s-12s", "3@-1s-2s"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c := lab.Config{Hosts: lab.MaxHosts}
		if rate, err := lab.ParseRate(text); err == nil {
			c.Link.Rate = rate
		}
		if loss, err := lab.ParseLoss(text); err == nil {
			c.Link.Loss = loss
		}
		if err := c.Validate(); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if cut, err := lab.ParseCut(text); err == nil {
			c.Cuts = []lab.Cut{cut}
			c.Validate() // what is out of range it refuses
		}
	})
}
