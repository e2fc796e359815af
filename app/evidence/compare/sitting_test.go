package compare_test

import (
	"testing"

	"lockstep/app/evidence/compare"
	"lockstep/app/record"
)

// Steps that get faster over a run are told, and a first step alone is not.
func TestWarmUp(t *testing.T) {
	for _, test := range []struct {
		slow int // steps after the first
		want string
	}{{0, ""}, {1, ""}, {8, "by 50 % at most: every row."}} {
		m := newMaker(3, 2)
		row := m.add(record.Setting{Strategy: "single", Workers: 1}, 1, 1, 1)
		for i := range row.Runs {
			s := row.Runs[i].Ranks[0].Steps.Seconds
			for step := 1; step <= test.slow; step++ {
				s[step] *= 1.5
			}
		}
		c := compare.Compare(m.Results)
		if test.want == "" {
			wantNoNote(t, c, "warm-up")
			continue
		}
		wantNote(t, c, "warm-up", test.want)
	}
}

// A run that counts because it was too short to tell of others counts by its time, and the note says so.
func TestRunsTooShortToTellCountByTheirTime(t *testing.T) {
	m := newMaker(2, 2)
	row := m.add(record.Setting{Strategy: "single", Workers: 1}, 1, 1)
	long := row.Runs[1]
	long.Taken = &record.Taken{Others: 0.3}
	row.Replaced = append(row.Replaced, long)
	wantNote(t, compare.Compare(m.Results), "repeated", "1 in all (at most 30 % in those replaced)",
		"lost least; 1 counts because it was too short to tell of others, and so by its time.")
	take(row, 0, 0.01)
	wantNote(t, compare.Compare(m.Results), "repeated", "lost least; its time takes no part in the choice.")
}

// Cores that are slower in one run than in another one of the same row are told; rows may differ.
func TestSpeedOfTheCores(t *testing.T) {
	for _, test := range []struct {
		peaks [2][3]float64
		want  string
	}{
		{[2][3]float64{{1e9, 1e9, 1.1e9}, {2e9, 2e9, 2e9}}, ""},
		{[2][3]float64{{1e9, 1.5e9, 1.1e9}, {2e9, 2e9, 2e9}}, "from 1 to 1.5 GFLOP/s in one row"},
	} {
		m := newMaker(3, 2)
		for i, peaks := range test.peaks {
			row := m.add(record.Setting{Strategy: "single", Workers: 1, Threads: i + 1}, 1, 1, 1)
			for j := range row.Runs {
				row.Runs[j].PeakFLOPs = peaks[j]
			}
		}
		c := compare.Compare(m.Results)
		if test.want == "" {
			wantNoNote(t, c, "speed of the cores")
			continue
		}
		wantNote(t, c, "speed of the cores", test.want)
	}
}

// Cores that were moved apart in some runs are told, with the row of several threads in which it shows
// most; cores of a small machine that were far apart in all; latencies that differ little, or were not
// measured, not.
func TestDistanceOfTheCores(t *testing.T) {
	for _, test := range []struct {
		latency [4]record.Numbers
		want    string
	}{
		{[4]record.Numbers{{60, 61}, {62, 150}, {60, 60}, {60, 60}}, ""},
		{[4]record.Numbers{{60, 61}, {0, 900}, nil, {60, 60, 900}}, ""},
		{[4]record.Numbers{{340, 341}, {345, 350}, {390, 340}, {340, 341}},
			"a cache line took 340 to 390 ns"},
		{[4]record.Numbers{{60, 61}, {62, 341}, {60, 300}, {60, 60}}, "before or after 4 of 8 runs a " +
			"cache line took up to 341 ns to another core and back, else from 60 ns on. So it is when the " +
			"cores of a virtual machine get different caches. Threads that share work are slower then, " +
			"workers with a process each hardly. It shows most in single 1×2: 1500 ms a step in those " +
			"runs, 1000 ms in the others."},
	} {
		m := newMaker(4, 2)
		for i, step := range []float64{2, 1.5} {
			row := m.add(record.Setting{Strategy: "single", Workers: 1, Threads: i + 1}, 1, step, step, 1)
			for j := range row.Runs {
				row.Runs[j].CoreLatency = test.latency[j]
			}
		}
		m.Results.Host.Cores = 2
		c := compare.Compare(m.Results)
		if test.want == "" {
			wantNoNote(t, c, "distance of the cores")
			continue
		}
		wantNote(t, c, "distance of the cores", test.want)
	}
}
