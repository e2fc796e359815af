package host

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// counter writes the files of an energy counter as the kernel has them.
func counter(t *testing.T, folder, zone, name, microjoules string) string {
	t.Helper()
	at := filepath.Join(folder, zone)
	if err := os.MkdirAll(at, 0o755); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{"name": name, "energy_uj": microjoules,
		"max_energy_range_uj": "262143328850"} {
		if err := os.WriteFile(filepath.Join(at, file), []byte(text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(at, "energy_uj")
}

// Energy is that of all packages, over the place where a counter starts anew, and without the parts of a
// package or the whole machine, which would count it twice.
func TestEnergyOfPackages(t *testing.T) {
	folder := t.TempDir()
	first := counter(t, folder, "intel-rapl:0", "package-0", "262143000000")
	second := counter(t, folder, "intel-rapl:1", "package-1", "1000000")
	core := counter(t, folder, "intel-rapl:0:0", "core", "5")
	psys := counter(t, folder, "intel-rapl:2", "psys", "7")
	e := watchEnergy(folder, time.Hour)
	for path, now := range map[string]string{first: "671150", second: "5000000", core: "9000000000",
		psys: "9000000000"} {
		if err := os.WriteFile(path, []byte(now), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// 0.328850 J to the end of the first counter and 0.671150 from its start, 4 of the second
	if got := e.Stop(); got < 4.9999 || got > 5.0001 {
		t.Errorf("%v J, want 5", got)
	}
}

// A counter that comes round several times is read often enough.
func TestEnergyIsReadInTime(t *testing.T) {
	folder := t.TempDir()
	path := counter(t, folder, "intel-rapl:0", "package-0", "262143000000")
	e := watchEnergy(folder, time.Millisecond)
	for _, now := range []string{"100000000", "262143000000", "100000000"} {
		err := os.WriteFile(path+".new", []byte(now), 0o644)
		if err == nil {
			err = os.Rename(path+".new", path) // nobody reads half of it
		}
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(40 * time.Millisecond)
	}
	if got := e.Stop(); got < 262e3 || got > 263e3 {
		t.Errorf("%v J, want those of one round of the counter and a hundred", got)
	}
}

// Without counters there is nothing to tell, and nothing goes on.
func TestNoEnergyCounters(t *testing.T) {
	e := watchEnergy(t.TempDir(), time.Hour)
	if e != nil || e.Stop() != 0 {
		t.Errorf("%v, %v J", e, e.Stop())
	}
	folder := t.TempDir()
	path := counter(t, folder, "intel-rapl:0", "package-0", "1")
	e = watchEnergy(folder, time.Hour)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got := e.Stop(); got != 0 {
		t.Errorf("%v J of a counter that is gone", got)
	}
}
