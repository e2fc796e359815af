package worker

import (
	"testing"

	"lockstep/app/host"
	"lockstep/app/setting"
)

// Workers share a quarter of the machine's memory, none keeps less than 1 GiB, and what is set counts.
func TestActivations(t *testing.T) {
	quarter := int64(host.MemoryBytes()) / 4
	for _, test := range []struct {
		name    string
		workers int
		set     func(c *setting.Config)
		want    int64
	}{
		{"alone", 1, func(*setting.Config) {}, max(1<<30, quarter)},
		{"two", 2, func(*setting.Config) {}, max(1<<30, quarter/2)},
		{"many", 1 << 20, func(*setting.Config) {}, 1 << 30},
		{"set", 2, func(c *setting.Config) { c.Memory = 640 << 20 }, 640 << 20},
		{"resident", 1, func(c *setting.Config) { c.Resident = 1 << 30 }, 512 << 20},
		{"on a GPU", 1, func(c *setting.Config) { c.Device = "cuda" }, 0},
		{"set on a GPU", 1, func(c *setting.Config) { c.Device, c.Memory = "cuda", 640<<20 }, 640 << 20},
	} {
		w := &Worker{WorkersHere: test.workers}
		w.Config = setting.Default()
		test.set(&w.Config)
		if got := w.activations(); got != test.want {
			t.Errorf("%s: %d bytes, want %d", test.name, got, test.want)
		}
	}
}
