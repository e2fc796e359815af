package command

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"lockstep/app/bench"
	"lockstep/app/job"
	"lockstep/app/record"

	"github.com/spf13/cobra"
)

// smallDisk mounts a file system of some bytes.
func smallDisk(t *testing.T, folder, size string) {
	t.Helper()
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "size="+size); err != nil {
		t.Skip("this user cannot mount a small disk: ", err)
	}
	t.Cleanup(func() { syscall.Unmount(folder, syscall.MNT_DETACH) })
}

// fill writes a file until the disk has left only so many bytes.
func fill(t *testing.T, file string, left int64) {
	t.Helper()
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	io.Copy(f, zeros{}) // until there is no room
	if info, err := f.Stat(); err == nil {
		err = f.Truncate(max(0, info.Size()-left))
		if err != nil {
			t.Fatal(err)
		}
	}
	f.Close() // what is not there needs no closing
}

// zeros has no end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// A checkpoint that a full disk does not take ends the run by the name of its rank, its file and its disk.
// The one before is whole, and the run that is resumed with room ends with the undisturbed parameters.
func TestFaultsOfADisk(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	if !hasLab() {
		t.Skip("this machine lets the user make no hosts: lockstep lab -- version says why")
	}
	out := filepath.Join(t.TempDir(), "run")
	const steps = faultSteps / 8 // it strikes at a step and not at a time
	arguments := slices.Concat(faultTrain, []string{fmt.Sprint(steps)})
	must(t, slices.Concat(arguments, []string{"--out", out})...)
	undisturbed := hash(t, out)
	for round := range max(1, *faultRounds) {
		seed := *faultSeed + uint64(round)
		random := rand.New(rand.NewPCG(seed, 0))
		disk := t.TempDir()
		smallDisk(t, disk, "24m")
		f := fault{name: "full disk", steps: steps}
		r := begin(t, filepath.Join(disk, "run"), "", "", slices.Concat(
			[]string{"lab", "--hosts", fmt.Sprint(faultHosts), "--"}, arguments))
		step := 40 + random.IntN(steps/2)
		r.until(t, "it is past the step", func() bool { return r.steps(0) >= step })
		other := filepath.Join(disk, "other")
		struck := time.Now()
		fill(t, other, int64(random.IntN(2))*(64<<10)) // the logs have room, or not
		r.ends(t, job.ExitCheckpoint)
		ended := time.Since(struck)
		want := regexp.MustCompile(`(?m)^lockstep: rank 0 \(pid \d+ on host0\) failed after step (\d+), ` +
			`phase \w+: checkpoint: write ` + disk + `/run/checkpoints/step-\d+: .*no space left on device` +
			`: it takes up to 1\.\d+ MiB, and the file system of ` + disk + `\S* has ` +
			`\S+ \S+ left; make room there`)
		said := want.FindStringSubmatch(r.stderr.String())
		if said == nil {
			t.Fatalf("seed %d: %s, want %s", seed, r.stderr.String(), want)
		}
		if err := os.Remove(other); err != nil {
			t.Fatal(err)
		}
		got := f.again(t, r)
		if got != undisturbed {
			t.Errorf("seed %d: resumed, the run ends with %s, undisturbed with %s", seed, got, undisturbed)
		}
		found, _ := strconv.Atoi(said[1]) // digits
		faultResult{Fault: f.name, Seed: seed, Step: found, Slow: ended.Milliseconds(),
			End: ended.Milliseconds(), Error: strings.TrimPrefix(said[0], "lockstep: "), Resume: got}.keep(t)
		if err := syscall.Unmount(disk, 0); err != nil {
			t.Errorf("somebody still uses the disk: %v", err)
		}
	}
}

// Logs that a full disk does not take are given up, which is said once, and the run goes on.
func TestAFullDiskEndsLogsOnly(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	disk := t.TempDir()
	smallDisk(t, disk, "24m")
	r := begin(t, filepath.Join(disk, "run"), "", "", slices.Concat(
		strings.Fields("train --workers 2 --threads 1 --limit-train 256 --limit-test 32 --batch 32 "+
			"--checkpoint-every 100000 --steps"), []string{"1000"}))
	r.until(t, "it trains", func() bool { return r.steps(0) > 0 })
	other := filepath.Join(disk, "other")
	fill(t, other, 0)
	r.until(t, "the logs are lost", func() bool {
		return strings.Contains(r.stderr.String(), "steps.jsonl")
	})
	if err := os.Remove(other); err != nil {
		t.Fatal(err)
	}
	r.ends(t, job.ExitOK)
	if n := strings.Count(r.stderr.String(), "; the run goes on without"); n == 0 || n > 5 {
		t.Errorf("said %d times: %s", n, r.stderr.String())
	}
}

// Weights for which a disk has no room, even without the logs, leave the logs, and the error says their size.
func TestAFullDiskKeepsTheMeasurements(t *testing.T) {
	disk := t.TempDir()
	smallDisk(t, disk, "150k")
	out := filepath.Join(disk, "run")
	status, _, stderr := execute("train", "--limit-train", "64", "--limit-test", "0", "--batch", "32",
		"--steps", "3", "--out", out)
	want := `it takes 211 KiB, and the file system of ` + disk + `\S* has `
	if status != job.ExitCheckpoint || !regexp.MustCompile(want).MatchString(stderr) {
		t.Errorf("status %d: %s, want %s", status, stderr, want)
	}
	if text, err := os.ReadFile(filepath.Join(out, "steps.jsonl")); strings.Count(string(text), "\n") != 3 {
		t.Errorf("%q, %v, want 3 steps", text, err)
	}
}

// A benchmark prints its table although a full disk does not take the report.
func TestAFullDiskLeavesTheTable(t *testing.T) {
	disk := t.TempDir()
	smallDisk(t, disk, "64k")
	fill(t, filepath.Join(disk, "other"), 0)
	var out strings.Builder
	a := &app{stdout: &out, stderr: io.Discard}
	c := &cobra.Command{}
	c.SetContext(t.Context())
	err := a.runBench(c, disk, nil, false, true,
		func(context.Context, bench.Options) (*record.Results, error) {
			return &record.Results{Rows: []record.Row{{Setting: record.Setting{Model: "lenet"}}}}, nil
		})
	want := "report: write " + disk + "/report.md: no space left on device"
	if err == nil || err.Error() != want || !strings.Contains(out.String(), "lenet") {
		t.Errorf("%v, want %s; table %q", err, want, out.String())
	}
}

// On several hosts a full disk has the name of its host. That of the first one, which has the checkpoints,
// ends the job with status 6 and the checkpoint before it is fetched; another's only ends logs there.
func TestAFullDiskOnAHost(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		host, status      int
		name, about, want string
	}{
		{1, job.ExitCheckpoint, "full disk: checkpoint", "", `(?m)^lockstep: rank 0 \(pid \d+ on h1\) ` +
			`failed after step \d+, phase \w+: checkpoint: write \S+: .*no space left on device: it takes ` +
			`up to 1\.\d+ MiB, and the file system of \S+ has \S+ \S+ left; make room there`},
		{2, job.ExitOK, "full disk: logs of another host", "ends early",
			`h2.*no space left on device; the run goes on without`},
	} {
		t.Run(fmt.Sprintf("h%d", test.host), func(t *testing.T) {
			s := startHosts(t, 2)
			disk := filepath.Join(s.home(test.host), "lockstep")
			smallDisk(t, disk, "200m") // with less than 50 MB the job does not start
			l := s.launch(t, strings.Fields("--hosts h1,h2 --max-restarts 1 -- train --model lenet "+
				"--data glyphs --limit-train 256 --limit-test 32 --batch 32 --shards 6 --threads 1 "+
				"--checkpoint-every 10 --augment none --eval-every 5 --steps 800")...)
			(&running{}).until(t, "a checkpoint is written", func() bool {
				found, _ := filepath.Glob(filepath.Join(s.home(1), "lockstep", "jobs", "*", "runs", "*",
					"checkpoints", "step-*")) // whole ones
				return len(found) > 0
			})
			fill(t, filepath.Join(disk, "other"), 0)
			struck := time.Now()
			l.ends(t, test.status)
			keepRefusal(t, test.name, test.about, test.status, time.Since(struck), l.stderr.String())
			t.Logf("ended after %v: %s", time.Since(struck), l.stderr.String())
			if text := l.stderr.String(); !regexp.MustCompile(test.want).MatchString(text) ||
				strings.Contains(text, "restart 1") {
				t.Errorf("%s, want %s", text, test.want)
			}
			s.isDeserted(t)
			kept := filepath.Join(l.folder, "runs", "*", "checkpoints", "step-*")
			if found, _ := filepath.Glob(kept); len(found) == 0 {
				t.Error("no checkpoint was fetched")
			}
		})
	}
}
