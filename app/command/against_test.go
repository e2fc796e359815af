package command

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockstep/app/job"
	"lockstep/app/record"
	"lockstep/app/report"
	"lockstep/cluster"
)

// A benchmark is compared with an earlier one, and refused before it runs beside one of another machine or of
// other rows.
func TestBenchAgainst(t *testing.T) {
	folder := t.TempDir()
	in := func(name string) string { return filepath.Join(folder, name) }
	line := []string{"bench", "--model", "lenet", "--strategies", "single", "--workers", "1", "--threads",
		"1", "--steps", "4", "--limit-train", "256", "--limit-test", "0", "--repeats", "3",
		"--no-one-process", "--quiet"}
	if status, _, said := execute(append(line, "--out", in("base"))...); status != job.ExitOK {
		t.Fatalf("exit %d: %s", status, said)
	}
	save := func(name string, change func(*record.Results)) string {
		r, err := report.Read(in("base"))
		if err != nil {
			t.Fatal(err)
		}
		change(r)
		if err := os.Mkdir(in(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := report.Save(in(name), r); err != nil {
			t.Fatal(err)
		}
		return in(name)
	}
	lasting := func(seconds float64) func(*record.Results) {
		return func(r *record.Results) {
			for _, run := range r.Rows[0].Runs {
				steps := run.Ranks[0].Steps
				copy(steps.Seconds, slices.Repeat(record.Numbers{seconds}, len(steps.Seconds)))
			}
		}
	}
	for _, c := range []struct {
		name, against, want string
		status              int
	}{
		{"same", filepath.Join(in("base"), report.ResultsFile), "No row is told apart as more than 5 %",
			job.ExitOK},
		{"elsewhere", save("cores", func(r *record.Results) { r.Host.Cores++ }), "another kind of machine",
			job.ExitUsage},
		{"others", save("model", func(r *record.Results) { r.Rows[0].Setting.Model = "vgg11" }),
			"has no row of this benchmark", job.ExitUsage},
		{"nowhere", in("none"), "no such file", job.ExitUsage},
	} {
		status, out, said := execute(append(line, "--against", c.against, "--out", in("out-"+c.name))...)
		if said += out; status != c.status || !strings.Contains(said, c.want) {
			t.Errorf("%s: exit %d, want %d with %q: %s", c.name, status, c.status, c.want, said)
		}
		if _, err := os.Stat(in("out-" + c.name)); (err == nil) != (c.status == job.ExitOK) {
			t.Errorf("%s: whether there are results: %v", c.name, err)
		}
	}
	then, err := report.Read(save("fast", lasting(0.005)))
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	a := &app{stdout: &said, environment: cluster.Environment{cluster.EnvStepSummary: in("page")}}
	slow := save("slow", lasting(0.010))
	err = a.judge(against{over: 0.05, then: then}, slow, false)
	if err != errRefused || !strings.Contains(said.String(), "lenet: single 1×1 is slower than on ") {
		t.Errorf("twice as slow: error %v; %s", err, &said)
	}
	own, err := os.ReadFile(filepath.Join(slow, report.SummaryFile))
	page, err2 := os.ReadFile(in("page"))
	if err != nil || err2 != nil || string(own) != string(page) ||
		!strings.Contains(string(own), "| lenet: single 1×1 | 5.00 | 10.0 | 2.00× (") {
		t.Errorf("summary %s, %v; page of the job %s, %v", own, err, page, err2)
	}
}
