package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"lockstep/app/bundle"
	"lockstep/app/job"
	"lockstep/app/record"
	"lockstep/app/rundir"
)

// keep writes the folder of a run as the run left it.
func keep(t *testing.T, folder string, run *record.Run) {
	t.Helper()
	var b bytes.Buffer
	lines := json.NewEncoder(&b)
	for _, rank := range run.Ranks {
		s := rank.Steps
		for i := range s.Seconds {
			p := s.Phases
			line := record.Step{Rank: rank.Rank, Step: i, Epoch: s.Epoch[i], Samples: s.Samples[i],
				Seconds: record.Number(s.Seconds[i]), Loss: record.Number(s.Loss[i]),
				OwnLoss: record.Number(s.OwnLoss[i]), Shards: s.Shards[i], UsageSeconds: s.Usage[i],
				CPUSeconds: s.CPU[i], RSSBytes: int64(s.RSS[i]), BytesSent: int64(s.Sent[i]),
				BytesReceived: int64(s.Received[i]), Phases: record.Phases{Forward: p["forward"][i],
					Backward: p["backward"][i], Optimizer: p["optimizer"][i], Data: p["data"][i],
					SyncExposed: p["sync_exposed"][i], Other: p["other"][i]}}
			if err := lines.Encode(line); err != nil {
				t.Fatal(err)
			}
		}
	}
	path := filepath.Join(folder, filepath.FromSlash(run.Directory), rundir.StepsFile)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	summary := record.Summary{Outcome: run.Outcome, Evaluations: run.Evaluations,
		TrainSeconds: run.TrainSeconds, BusiestBytes: run.BusiestBytes, BytesVectors: run.BytesVectors}
	host := record.RunHost{Host: record.Host{Name: "vm", OS: "linux", Kernel: "6.18.44-fc-v669",
		Arch: "amd64", CPU: "AMD EPYC", UsableCores: 2, MemoryBytes: 25276502016}}
	for name, v := range map[string]any{rundir.SummaryFile: summary, rundir.HostFile: host} {
		text, err := json.Marshal(v)
		if err == nil {
			err = os.WriteFile(filepath.Join(filepath.Dir(path), name), text, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	const config = "model: vgg11\nworkers: 4\nbatch: 256\nsteps: 10\nlr: 0.01\nlimit-train: 10240\n" +
		"limit-test: 1000\nmath: fast\n"
	path = filepath.Join(filepath.Dir(path), rundir.ConfigFile)
	if err := os.WriteFile(path, []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
}

// The raw samples of a run that lie beside results or in their bundle must be those of the results.
func TestStepsOfRunsAreThoseOfTheResults(t *testing.T) {
	for _, c := range []struct {
		name   string
		doctor func(run *record.Run)
		want   string
	}{
		{"as it was", func(*record.Run) {}, ""},
		{"a step", func(run *record.Run) { run.Ranks[2].Steps.Seconds[4] *= 1.01 },
			"steps.jsonl: step 5 of rank 2 took"},
		{"samples", func(run *record.Run) { run.Ranks[1].Steps.Samples[0]++ },
			"steps.jsonl: step 1 of rank 1 trained on"},
		{"a phase moved", func(run *record.Run) {
			p := run.Ranks[1].Steps.Phases
			p["forward"][3], p["backward"][3] = p["backward"][3], p["forward"][3]
		}, "steps.jsonl: step 4 of rank 1 has a phase backward of"},
		{"a loss", func(run *record.Run) { run.Ranks[3].Steps.Loss[9] = 1 },
			"steps.jsonl: step 10 of rank 3 has a loss of 1"},
		{"processor time", func(run *record.Run) { run.Ranks[0].Steps.CPU[9] /= 2 },
			"steps.jsonl: step 10 of rank 0 has a processor time of"},
		{"memory of the run", func(run *record.Run) { run.PeakRSSBytes++ },
			"summary.json: its peak_rss_bytes is "},
		{"an evaluation", func(run *record.Run) { run.Evaluations[0].Seconds = 1 },
			"summary.json: its evaluations[0].seconds is "},
		{"a rank fewer", func(run *record.Run) { run.Ranks = run.Ranks[:3] }, "steps.jsonl: it cannot"},
	} {
		t.Run(c.name, func(t *testing.T) {
			folder := t.TempDir()
			r := measuredRounds(t)
			kept := r.Rows[3].Runs[2]
			c.doctor(&kept)
			keep(t, folder, &kept)
			reseal(t, folder, measuredRounds(t))
			packed, again := packUnseen(t, folder, bundle.Bench), filepath.Join(t.TempDir(), "b.tar.gz")
			want := job.ExitOK
			if c.want != "" {
				want = job.ExitCheck
			}
			for _, args := range [][]string{{"check", filepath.Join(folder, "results.json")},
				{"check", packed}, {"report", folder}, {"bundle", folder, "-o", again},
				{"report", packed, "--out", filepath.Join(t.TempDir(), "out")}} {
				status, stdout, stderr := execute(args...)
				if said := stdout + stderr; status != want || !strings.Contains(said, c.want) {
					t.Errorf("%s: status %d, %.600q; want %q", args[0], status, said, c.want)
				}
			}
		})
	}
}

// A row that claims more workers than its runs have ranks is refused before a list is made of them.
func TestNoWorkerWithoutRank(t *testing.T) {
	folder, r := t.TempDir(), measuredRounds(t)
	keep(t, folder, &r.Rows[3].Runs[2])
	r.Rows[3].Setting.Workers = 1 << 50
	reseal(t, folder, r)
	status, stdout, _ := execute("check", filepath.Join(folder, "results.json"))
	const want = "the row has 1125899906842624 workers"
	if status != job.ExitCheck || !strings.Contains(stdout, want) {
		t.Errorf("status %d, %.600q; want %q", status, stdout, want)
	}
}

// trained leaves a run of two workers in a folder.
func trained(t *testing.T) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "run")
	status, _, stderr := execute("train", "--model=lenet", "--data=glyphs", "--workers=2", "--threads=1",
		"--batch=16", "--steps=12", "--limit-train=192", "--limit-test=50", "--link=local", "--quiet",
		"--out", folder)
	if status != job.ExitOK {
		t.Fatalf("status %d, %q", status, stderr)
	}
	return folder
}

// reports makes the report of a folder, which is refused for a reason unless that is empty.
func reports(t *testing.T, folder, reason string) {
	t.Helper()
	want := job.ExitOK
	if reason != "" {
		want = job.ExitCheck
	}
	status, _, stderr := execute("report", folder)
	if status != want || !strings.Contains(stderr, reason) {
		t.Errorf("status %d, %q; want %q", status, stderr, reason)
	}
}

// left returns a file that a run has left, and its path.
func left(t *testing.T, folder, name string) (path string, text []byte) {
	t.Helper()
	path = filepath.Join(folder, name)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, text
}

// A training run whose steps are not those of its summary has no report.
func TestStepsOfATrainingAreThoseOfItsSummary(t *testing.T) {
	folder := trained(t)
	path, text := left(t, folder, rundir.StepsFile)
	halved := func(pattern string) func(string) string {
		value := regexp.MustCompile(pattern)
		return func(text string) string {
			return value.ReplaceAllStringFunc(text, func(s string) string {
				m := value.FindStringSubmatch(s)
				v, err := strconv.ParseFloat(m[2], 64)
				if err != nil {
					t.Fatal(err)
				}
				return m[1] + strconv.FormatFloat(v/2, 'g', -1, 64)
			})
		}
	}
	for _, c := range []struct {
		name   string
		change func(string) string
		want   string
	}{
		{"as it was", func(text string) string { return text }, ""},
		{"times halved", halved(`("seconds":)([0-9.e-]+)`), "median step of"},
		{"forward passes halved", halved(`("forward":)([0-9.e-]+)`), "forward passes of"},
		{"losses halved", halved(`("loss":)([0-9.e-]+)`), "first loss of"},
		{"samples doubled", func(text string) string {
			return strings.ReplaceAll(text, `"samples":16`, `"samples":32`)
		}, "summary.json tells of 192"},
		{"a line removed", func(text string) string {
			return text[strings.Index(text, "\n")+1:]
		}, "11 steps"},
	} {
		t.Run(c.name, func(t *testing.T) {
			now := c.change(string(text))
			if err := os.WriteFile(path, []byte(now), 0o644); err != nil {
				t.Fatal(err)
			}
			if c.want != "" && now == string(text) {
				t.Fatal("nothing changed")
			}
			reports(t, folder, c.want)
		})
	}
}

// A summary that tells of a GPU what none can have done has no report.
func TestGPUsOfATraining(t *testing.T) {
	folder := trained(t)
	path, text := left(t, folder, rundir.SummaryFile)
	onGPU := func(s *record.Summary) {
		s.Device, s.GPU, s.GPUs, s.GPUWorkers = "cuda", "H100", 1, 2
		for i := range s.Ranks {
			s.Ranks[i].GPU = &record.RankGPU{GPU: record.GPU{Name: "H100", MemoryBytes: 80 << 30}}
		}
	}
	for _, c := range []struct {
		name   string
		change func(*record.Summary)
		want   string
	}{
		{"as it was", func(*record.Summary) {}, ""},
		{"on a GPU", onGPU, ""},
		{"on the processor", func(s *record.Summary) { onGPU(s); s.Device = "cpu" },
			`its device is "cpu", it has 2 workers, gpus is 1`},
		{"on what is no device", func(s *record.Summary) { s.Device = "rocm" }, `its device is "rocm"`},
		{"in no time", func(s *record.Summary) {
			onGPU(s)
			s.Ranks[1].GPU.Time = &record.GPUTime{Steps: 1e6, Seconds: 1}
		}, "the GPU of rank 1 was watched in 1000000 of 12 steps"},
		{"beyond its memory", func(s *record.Summary) { onGPU(s); s.Ranks[0].GPU.BytesInUse = 90 << 30 },
			"the GPU of rank 0 has"},
		{"beyond its memory, after others", func(s *record.Summary) {
			onGPU(s)
			s.Ranks[0].GPU.BytesInUse, s.Resumed = 90<<30, &record.Resumed{}
		}, "the GPU of rank 0 has"},
		{"on the processor, after others", func(s *record.Summary) {
			onGPU(s)
			s.Device, s.GPU, s.GPUs, s.GPUWorkers, s.Resumed = "cpu", "", 0, 0, &record.Resumed{}
		}, `the GPU of rank 0 computed, and the device of the run is "cpu"`},
		{"more GPUs than there can be", func(s *record.Summary) { onGPU(s); s.GPUs = 2 }, "gpus is 2"},
		{"fewer than there must be", func(s *record.Summary) { onGPU(s); s.GPUWorkers = 1 }, "gpu_workers"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s record.Summary
			if err := json.Unmarshal(text, &s); err != nil {
				t.Fatal(err)
			}
			c.change(&s)
			s.TakeSeal()
			now, err := json.Marshal(s)
			if err == nil {
				err = os.WriteFile(path, now, 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
			reports(t, folder, c.want)
		})
	}
}

// A summary that tells something twice, in other words or in the same, has no report.
func TestSummaryThatTellsThingsTwice(t *testing.T) {
	folder := trained(t)
	path, text := left(t, folder, rundir.SummaryFile)
	for _, c := range []struct{ was, is, want string }{
		{`"workers": 2`, `"workers": 3`, "there were 3 workers and 2 ranks"},
		{`"steps": 12`, `"steps": 99, "steps": 12`, `the name "steps" is there twice`},
		{`"steps": 12`, `"Steps": 99, "steps": 12`, `the name "steps" is there twice`},
	} {
		now := strings.Replace(string(text), c.was, c.is, 1)
		if err := os.WriteFile(path, []byte(now), 0o644); err != nil {
			t.Fatal(err)
		}
		if now == string(text) {
			t.Fatal("nothing changed")
		}
		if status, _, stderr := execute("report", folder); status == job.ExitOK ||
			!strings.Contains(stderr, c.want) {
			t.Errorf("status %d, %q, want %q", status, stderr, c.want)
		}
	}
}

// A training run whose files were changed has no report and no bundle, and is not laid beside another, even
// where nothing else contradicts what was changed.
func TestSealOfATraining(t *testing.T) {
	folder := trained(t)
	for _, c := range []struct{ file, was, is, want string }{
		{rundir.SummaryFile, `"test_accuracy": [0-9.]+`, `"test_accuracy": 0.9979`, "has a seal that is not"},
		{rundir.SummaryFile, `"accuracy": [0-9.]+`, `"accuracy": 0.9979`, "has a seal that is not"},
		{rundir.SummaryFile, `"train_seconds": [0-9.]+`, `"train_seconds": 0.001`, "has a seal that is not"},
		{rundir.SummaryFile, `"samples_per_second": [0-9.]+`, `"samples_per_second": 1e9`,
			"has a seal that is not"},
		{rundir.SummaryFile, `,\s*"seal": "[0-9a-f]*"`, ``, "no seal: its seal was removed"},
		{rundir.SummaryFile, `"seal": "[0-9a-f]*"`, `"seal": ""`, "no seal: its seal was removed"},
		{rundir.ConfigFile, `(?m)^seed: \S+`, "seed: 97", "config.yaml has seed 97, and summary.json"},
		{rundir.ConfigFile, `(?m)^lr: \S+`, "lr: 0.97", "config.yaml has lr 0.97, and summary.json tells of"},
		{rundir.StepsFile, `("step":[5-8],.*"loss":)[0-9.]+`, "${1}0.0001", "steps.jsonl has the SHA-256"},
	} {
		path, text := left(t, folder, c.file)
		now := regexp.MustCompile(c.was).ReplaceAll(text, []byte(c.is))
		if bytes.Equal(now, text) {
			t.Fatalf("%s: nothing changed", c.was)
		}
		if err := os.WriteFile(path, now, 0o644); err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(t.TempDir(), "out")
		for _, args := range [][]string{{"report", folder}, {"report", folder, folder, "--out", out},
			{"bundle", folder, "-o", out}} {
			status, _, stderr := execute(args...)
			if status != job.ExitCheck || !strings.Contains(stderr, c.want) {
				t.Errorf("%s: %s: status %d, %q; want %q", c.was, args[0], status, stderr, c.want)
			}
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	reports(t, folder, "")
	if err := os.Remove(filepath.Join(folder, rundir.StepsFile)); err != nil {
		t.Fatal(err)
	}
	reports(t, folder, "") // curves may go to make room
	if _, stdout, _ := execute("check", folder); !strings.Contains(stdout, "its steps not, as steps.jsonl") {
		t.Errorf("check tells of steps that are gone: %q", stdout)
	}
}

// Runs that are resumed, that only evaluate and that lost their steps have a seal that fits.
func TestSealsOfOtherTrainings(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "run")
	sealed := func(folder string, args ...string) {
		t.Helper()
		status, _, stderr := execute(append(args, "--quiet")...)
		if status != job.ExitOK {
			t.Fatalf("%q: status %d, %q", args, status, stderr)
		}
		if _, text := left(t, folder, rundir.SummaryFile); !bytes.Contains(text, []byte(`"seal": "`)) {
			t.Errorf("%q: no seal", args)
		}
		reports(t, folder, "")
	}
	sealed(folder, "train", "--batch=16", "--steps=12", "--limit-train=192", "--limit-test=50",
		"--link=local", "--shards=2", "--workers=2", "--threads=1", "--checkpoint-every=5", "--out", folder)
	sealed(folder, "train", "--resume", folder) // nothing to do
	sealed(folder, "train", "--resume", folder, "--steps=20", "--workers=1")
	sealed(folder+"-evaluated", "train", "--eval-only", "--weights", folder, "--limit-test=50", "--out",
		folder+"-evaluated")
	path, text := left(t, folder, rundir.SummaryFile)
	now := regexp.MustCompile(`"test_accuracy": [0-9.]+`).ReplaceAll(text, []byte(`"test_accuracy": 0.99`))
	if err := os.WriteFile(path, now, 0o644); err != nil {
		t.Fatal(err)
	}
	reports(t, folder, "summary.json has a seal")
	refuses := func(what string, more ...string) {
		t.Helper()
		args := append([]string{"train", "--resume", folder, "--quiet"}, more...)
		status, stdout, stderr := execute(args...)
		if status != job.ExitCheck || stdout != "" || !strings.Contains(stderr, "--resume: "+what) ||
			!strings.Contains(stderr, "--weights "+filepath.Join(folder, "checkpoints", "step-20 ")) {
			t.Errorf("%s: status %d, %q", what, status, stderr)
		}
	}
	refuses("summary.json has a seal that is not that of what it holds")
	refuses("summary.json has a seal that is not that of what it holds", "--steps=24")
	steps, lines := left(t, folder, rundir.StepsFile)
	err := errors.Join(os.WriteFile(path, text, 0o644), os.WriteFile(steps, lines[:len(lines)/2], 0o644))
	if err != nil {
		t.Fatal(err)
	}
	refuses("steps.jsonl has the SHA-256 ", "--steps=24")
	err = errors.Join(os.WriteFile(steps, lines, 0o644), os.WriteFile(path, text[:len(text)/2], 0o644))
	if err != nil {
		t.Fatal(err)
	}
	refuses("summary.json cannot be read: unexpected EOF. ", "--steps=24")
	config, lines := left(t, folder, rundir.ConfigFile)
	other := bytes.Replace(lines, []byte("\nlr: "), []byte("\nlr: 1"), 1)
	if err := errors.Join(os.WriteFile(path, text, 0o644), os.WriteFile(config, other, 0o644)); err != nil {
		t.Fatal(err)
	}
	refuses("config.yaml has lr ", "--steps=24")
	if err := os.WriteFile(config, lines, 0o644); err != nil {
		t.Fatal(err)
	}
	unlock, err := rundir.Lock(folder) // as another process that resumes the run
	if err != nil {
		t.Fatal(err)
	}
	status, _, stderr := execute("train", "--resume", folder, "--quiet")
	if status != job.ExitUsage || !strings.Contains(stderr, "a run in this directory is still going on") {
		t.Errorf("locked: status %d, %q", status, stderr)
	}
	unlock()
	sealed(folder, "train", "--resume", folder, "--steps=24")
}

// check compares a training run with itself, whether or not it has ended.
func TestCheckOfATraining(t *testing.T) {
	folder := trained(t)
	checks := func(want int, text string) {
		t.Helper()
		status, stdout, stderr := execute("check", folder)
		if status != want || !strings.Contains(stdout, text) || stderr != "" {
			t.Errorf("status %d, %q, %q, want %d and %q", status, stdout, stderr, want, text)
		}
	}
	checks(job.ExitOK, "training run: 24 steps of 2 ranks compared with its summary: 0 refused, 0 warnings\n")
	path, text := left(t, folder, rundir.SummaryFile)
	steps, lines := left(t, folder, rundir.StepsFile)
	lines = lines[:1+bytes.LastIndexByte(lines[:len(lines)-1], '\n')] // without the last
	if err := os.WriteFile(steps, lines, 0o644); err != nil {
		t.Fatal(err)
	}
	checks(job.ExitCheck, "refused: contradiction: Rank ")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	checks(job.ExitOK, "training run: not compared, as it has no summary: 0 refused, 0 warnings\n")
	if err := os.WriteFile(path, text[:len(text)/2], 0o644); err != nil {
		t.Fatal(err)
	}
	if status, _, stderr := execute("check", folder); status != job.ExitUsage ||
		!strings.Contains(stderr, "give a folder whose files are whole") {
		t.Errorf("half a summary: status %d, %q", status, stderr)
	}
}

// An interrupted run leaves no summary, so one that says so is refused: it would not be compared with steps.
func TestSummaryOfAnInterruptedRun(t *testing.T) {
	folder := trained(t)
	path, text := left(t, folder, rundir.SummaryFile)
	now := bytes.Replace(text, []byte(`"interrupted": false`), []byte(`"interrupted": true`), 1)
	if bytes.Equal(now, text) {
		t.Fatal("nothing changed")
	}
	if err := os.WriteFile(path, now, 0o644); err != nil {
		t.Fatal(err)
	}
	status, _, stderr := execute("report", folder)
	if status != job.ExitUsage || !strings.Contains(stderr, "such a run leaves none") {
		t.Errorf("status %d, %q", status, stderr)
	}
}

// Samples that cannot be read are told after what was found, with the status of a file that cannot be read.
func TestSamplesThatCannotBeRead(t *testing.T) {
	folder, r := t.TempDir(), measuredRounds(t)
	reseal(t, folder, r)
	steps := filepath.Join(folder, filepath.FromSlash(r.Rows[3].Runs[2].Directory), rundir.StepsFile)
	if err := os.MkdirAll(steps, 0o755); err != nil {
		t.Fatal(err)
	}
	status, stdout, stderr := execute("check", folder)
	if status != job.ExitUsage || !strings.Contains(stdout, "rows: 0 refused") ||
		!strings.Contains(stderr, "raw samples: ") {
		t.Errorf("status %d, %.600q, %q", status, stdout, stderr)
	}
	status, _, stderr = execute("report", folder)
	if status != job.ExitUsage || !strings.Contains(stderr, "raw samples: ") {
		t.Errorf("report: status %d, %q", status, stderr)
	}
	r.Rows[2].Runs[0].Seconds /= 2
	reseal(t, folder, r)
	if status, _, stderr = execute("report", folder); status != job.ExitCheck {
		t.Errorf("report of doctored results: status %d, %q", status, stderr)
	}
}

// A benchmark does not go on with results that contradict themselves or what its runs have left, which would
// be sealed anew.
func TestResumeOfDoctoredResults(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "bench")
	status, _, stderr := execute("bench", "--strategies=single", "--workers=1", "--steps=4", "--repeats=2",
		"--limit-train=64", "--limit-test=0", "--batch=16", "--link=local", "--quiet", "--out", folder)
	if status != job.ExitOK {
		t.Fatalf("status %d, %q", status, stderr)
	}
	_, text := left(t, folder, "results.json")
	doctored, err := record.Decode(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	doctored.Rows[0].Runs[1].PeakRSSBytes++
	reseal(t, folder, doctored)
	path, before := left(t, folder, "results.json")
	status, _, stderr = execute("bench", "--resume", folder, "--quiet")
	after, err := os.ReadFile(path)
	if status != job.ExitCheck || !strings.Contains(stderr, "summary.json: its peak_rss_bytes is ") ||
		err != nil || !bytes.Equal(before, after) {
		t.Errorf("status %d, %q, %v", status, stderr, err)
	}
}
