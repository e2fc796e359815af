package worker

import (
	"testing"

	"lockstep/app/host"
	"lockstep/app/setting"
)

// Workers share a quarter of what the samples leave of the machine's memory, none keeps less than 1 GiB, and
// what is set counts.
func TestActivations(t *testing.T) {
	quarter, samples := int64(host.MemoryBytes())/4, int64(host.MemoryBytes())/2
	for _, test := range []struct {
		name    string
		workers int
		samples int64
		set     func(c *setting.Config)
		want    int64
	}{
		{"alone", 1, 0, func(*setting.Config) {}, max(1<<30, quarter)},
		{"two", 2, 0, func(*setting.Config) {}, max(1<<30, quarter/2)},
		{"beside samples", 1, samples, func(*setting.Config) {}, max(1<<30, (4*quarter-samples)/4)},
		{"each beside samples of its own", 2, samples, func(c *setting.Config) { c.Link = "tcp" }, 1 << 30},
		{"many", 1 << 20, 0, func(*setting.Config) {}, 1 << 30},
		{"set", 2, 0, func(c *setting.Config) { c.Memory = 640 << 20 }, 640 << 20},
		{"resident", 1, 0, func(c *setting.Config) { c.Resident = 1 << 30 }, 512 << 20},
		{"on a GPU", 1, 0, func(c *setting.Config) { c.Device = "cuda" }, 0},
		{"set on a GPU", 1, 0, func(c *setting.Config) { c.Device, c.Memory = "cuda", 640<<20 }, 640 << 20},
	} {
		w := &Worker{WorkersHere: test.workers}
		w.Task.Bytes = test.samples
		w.Config = setting.Default()
		test.set(&w.Config)
		if got := w.activations(); got != test.want {
			t.Errorf("%s: %d bytes, want %d", test.name, got, test.want)
		}
	}
}
