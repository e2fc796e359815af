package command

import (
	"bytes"
	"compress/gzip"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/app/job"
	"lockstep/app/record"
)

// measuredRounds returns a benchmark of 5 rows in 4 rounds of 10 steps each: single, gather-scatter,
// all-reduce, ddp and none. Workers are 4 but for the first row.
func measuredRounds(t *testing.T) *record.Results {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "results", "r3", "recipe", "results.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	plain, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	r, err := record.Decode(plain)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// reseal writes results with new seals, as somebody who changes them and means to hide it.
func reseal(t *testing.T, folder string, r *record.Results) {
	t.Helper()
	r.Seal = ""
	for i := range r.Rows {
		for _, runs := range [][]record.Run{r.Rows[i].Runs, r.Rows[i].Replaced} {
			for j := range runs {
				runs[j].Seal = ""
			}
		}
	}
	var b bytes.Buffer
	if err := record.Encode(&b, r); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "results.json"), b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// ofDDP returns a change of every run of ddp, which has the most to gain.
func ofDDP(change func(*record.Run)) func(*record.Results) {
	return func(r *record.Results) {
		for i := range r.Rows[3].Runs {
			change(&r.Rows[3].Runs[i])
		}
	}
}

// ofStep returns a change of the first rank's steps in every run of ddp.
func ofStep(change func(*record.Steps)) func(*record.Results) {
	return ofDDP(func(run *record.Run) { change(&run.Ranks[0].Steps) })
}

// faster scales the times of a run and everything that its steps tell of them.
func faster(run *record.Run, by float64) {
	run.Seconds, run.TrainSeconds = by*run.Seconds, by*run.TrainSeconds
	for _, rank := range run.Ranks {
		s := rank.Steps
		columns := []record.Numbers{s.Seconds, s.Usage}
		for _, phase := range s.Phases {
			columns = append(columns, phase)
		}
		for _, values := range columns {
			for i := range values {
				values[i] *= by
			}
		}
	}
}

// configure changes the configuration of a run.
func configure(run *record.Run, old, now string) {
	run.Config = bytes.Replace(run.Config, []byte(old), []byte(now), 1)
}

// resealed is a change of results, and what is said about it.
type resealed struct {
	name   string
	doctor func(r *record.Results)
	want   string
}

// outOfRange lists figures that nothing can have measured.
func outOfRange() []resealed {
	const nothing = "which nothing can have measured"
	return []resealed{
		{"no step time", ofStep(func(s *record.Steps) { s.Seconds[3] = math.NaN() }), "a time of NaN"},
		{"a huge step", ofStep(func(s *record.Steps) { s.Seconds[3] = 1e300 }), nothing},
		{"no watched time", ofStep(func(s *record.Steps) { s.Usage[3] = math.NaN() }), nothing},
		{"negative processor time", ofStep(func(s *record.Steps) { s.CPU[3] = -5 }), "processor time of -5"},
		{"huge processor time", ofStep(func(s *record.Steps) { s.CPU[3] = 1e308 }), nothing},
		{"no phase", ofStep(func(s *record.Steps) { s.Phases["forward"][3] = math.NaN() }),
			"phase forward of NaN"},
		{"no memory", ofStep(func(s *record.Steps) { s.RSS[3] = math.NaN() }), "memory of NaN"},
		{"negative bytes of a step", ofStep(func(s *record.Steps) { s.Sent[3] = -1e9 }), nothing},
		{"a negative epoch", ofStep(func(s *record.Steps) { s.Epoch[0] = -5 }), "epoch of -5"},
		{"an epoch before the first", ofStep(func(s *record.Steps) { s.Epoch[0] = -1 }), "epoch of -1"},
		{"a huge epoch", ofStep(func(s *record.Steps) { s.Epoch[9] = 1e9 }), nothing},
		{"negative shards", ofStep(func(s *record.Steps) { s.Shards[0] = -1 }), "number of shards of -1"},
		{"negative wall time", ofDDP(func(r *record.Run) { r.Wall = -5 }), "processes is -5"},
		{"no wall time", ofDDP(func(r *record.Run) { r.Wall = 0 }), "with starting and ending its processes"},
		{"a huge wall time", ofDDP(func(r *record.Run) { r.Wall = 1e300 }), nothing},
		{"negative bytes", ofDDP(func(r *record.Run) { r.BytesSent = -100 }), "bytes sent is -100"},
		{"negative memory", ofDDP(func(r *record.Run) { r.PeakRSSBytes = -1 }), "the memory is -1"},
		{"negative speed", ofDDP(func(r *record.Run) { r.PeakFLOPs = -1 }), "the speed of the cores is -1"},
		{"negative hidden time", ofDDP(func(r *record.Run) { *r.Ranks[0].Hidden = -3 }), "rank 0 is -3 s"},
		{"a huge evaluation", ofDDP(func(r *record.Run) { r.Evaluations[0].WallSeconds = 1e300 }), nothing},
		{"all answers right twice", ofDDP(func(r *record.Run) { *r.TestAccuracy = 2 }), "an accuracy is 2"},
	}
}

// relabelled lists rows that say something else than the configurations and weights of their runs.
func relabelled() []resealed {
	set := func(change func(*record.Setting)) func(*record.Results) {
		return func(r *record.Results) { change(&r.Rows[3].Setting) }
	}
	return []resealed{
		{"another wire", set(func(s *record.Setting) { s.Wire, s.IsLossy = "bf16", true }),
			`run with wire "fp32"`},
		{"other threads", set(func(s *record.Setting) { s.Threads = 2 }), `run with threads "1"`},
		{"other shards", set(func(s *record.Setting) { s.Shards = 8 }), `run with shards "4"`},
		{"another algorithm", ofDDP(func(run *record.Run) {
			configure(run, `"algorithm":"auto"`, `"algorithm":"tree"`)
		}), `run with algorithm "tree"`},
		{"another link", ofDDP(func(run *record.Run) { configure(run, `"link":"auto"`, `"link":"shm"`) }),
			`run with link "shm"`},
		{"called inexact", set(func(s *record.Setting) { s.Inexact = "sums in another order" }),
			"ended with the parameters of rows that are exact"},
		{"called lossy", set(func(s *record.Setting) { s.IsLossy = true }), `says "its wire is lossy"`},
		{"called a copy", func(r *record.Results) { r.Rows[3].Copy = 1 }, "Row 4 is called a copy of row 3"},
		{"fewer steps", ofDDP(func(run *record.Run) {
			for i := range run.Ranks {
				s := &run.Ranks[i].Steps
				for name, v := range s.Phases {
					s.Phases[name] = v[:5]
				}
				s.Epoch, s.Samples, s.Shards = s.Epoch[:5], s.Samples[:5], s.Shards[:5]
				s.Loss, s.OwnLoss, s.Seconds = s.Loss[:5], s.OwnLoss[:5], s.Seconds[:5]
				s.Usage, s.CPU, s.RSS = s.Usage[:5], s.CPU[:5], s.RSS[:5]
				s.Sent, s.Received = s.Sent[:5], s.Received[:5]
			}
			run.Steps, run.Samples = 5, run.Samples/2
		}), "it did 5 steps, and was asked for 10"},
		{"other kernels", ofDDP(func(run *record.Run) { run.ISA = "=cmd|1!A1" }), "it used the kernels"},
		{"collected", func(r *record.Results) {
			for i := range r.Rows {
				r.Rows[i].Setting.Data = "glyphs"
				for j := range r.Rows[i].Runs {
					configure(&r.Rows[i].Runs[j], `"data":"cifar10"`, `"data":"glyphs"`)
				}
			}
		}, "the data set glyphs is generated"},
		{"another accuracy", ofDDP(func(run *record.Run) {
			*run.TestAccuracy = 0.9
			run.Evaluations[len(run.Evaluations)-1].Accuracy = 0.9
		}), "it has an accuracy of 0.9"},
		{"no loss of an evaluation", ofDDP(func(run *record.Run) {
			run.Evaluations[len(run.Evaluations)-1].Loss = record.Number(math.NaN())
		}), "a loss of NaN on the same test set"},
	}
}

// misfitting lists times, orders and counts that do not fit the rest.
func misfitting() []resealed {
	swap := func(run, other *record.Run) {
		run.Ranks, other.Ranks = other.Ranks, run.Ranks
		run.Seconds, other.Seconds = other.Seconds, run.Seconds
		run.TrainSeconds, other.TrainSeconds = other.TrainSeconds, run.TrainSeconds
	}
	return []resealed{
		{"all times halved", ofDDP(func(run *record.Run) { faster(run, 0.5) }), "before an evaluation"},
		{"a tenth of all times", ofDDP(func(run *record.Run) {
			faster(run, 0.1)
			for i := range run.Evaluations {
				run.Evaluations[i].TrainSeconds, run.Evaluations[i].WallSeconds = 0, 0
			}
		}), "s of processor time in"},
		{"runs of two rounds swapped", func(r *record.Results) {
			swap(&r.Rows[3].Runs[0], &r.Rows[3].Runs[1])
		}, "before an evaluation"},
		{"no training time", ofDDP(func(run *record.Run) { run.TrainSeconds = 0 }), "it trained for 0 s"},
		{"training longer than the run", ofDDP(func(run *record.Run) { run.TrainSeconds = 900 }),
			"it trained for 900 s"},
		{"a quarter of the bytes", ofDDP(func(run *record.Run) { run.BytesSent /= 4 }), "its ranks sent"},
		{"received less", ofDDP(func(run *record.Run) { run.BytesReceived /= 4 }), "its ranks received"},
		{"ranks copied", ofDDP(func(run *record.Run) {
			run.Ranks[1].Steps, run.Ranks[1].Hidden = run.Ranks[0].Steps, run.Ranks[0].Hidden
		}), "the steps of rank 1 took as long as those of rank 0"},
		{"order 0", func(r *record.Results) { r.Order = 0 }, "the order that seed 0 draws"},
		{"another order in sittings", func(r *record.Results) {
			r.Order = 999
			r.Sittings = []record.Sitting{{Started: r.Started, Seconds: r.Seconds, Version: r.Version,
				Host: r.Host}}
		}, "the order that seed 999 draws"},
		{"a short benchmark", func(r *record.Results) { r.Seconds = 1 }, "the benchmark from"},
		{"an early benchmark", func(r *record.Results) { r.Started = r.Started.Add(-time.Hour) },
			"the benchmark from"},
		{"a little short", func(r *record.Results) { r.Seconds = 0.95 * r.Seconds }, "the benchmark"},
		{"a round removed", func(r *record.Results) { // the last, so that places have no hole
			r.Command, r.Rounds = []string{"lockstep", "bench", "--repeats=4"}, 3
			for i := range r.Rows {
				row := &r.Rows[i]
				row.Rounds = 3
				row.Runs = slices.DeleteFunc(row.Runs, func(run record.Run) bool { return run.Round == 3 })
				row.Replaced = nil
			}
		}, "The command asks for 4 rounds, the results are of 3"},
	}
}

// restated lists figures that the file states once, and what else in it they cannot be true beside.
func restated() []resealed {
	all := func(change func(row *record.Row, run *record.Run)) func(*record.Results) {
		return func(r *record.Results) {
			for i := range r.Rows {
				for j := range r.Rows[i].Runs {
					change(&r.Rows[i], &r.Rows[i].Runs[j])
				}
			}
		}
	}
	rename := func(setting, old, name string, field func(*record.Setting) *string) func(*record.Results) {
		return func(r *record.Results) {
			for i := range r.Rows {
				*field(&r.Rows[i].Setting) = name
			}
			all(func(_ *record.Row, run *record.Run) {
				configure(run, `"`+setting+`":"`+old+`"`, `"`+setting+`":"`+name+`"`)
				run.Directory = strings.Replace(run.Directory, "-"+old+"-", "-"+name+"-", 1)
			})(r)
		}
	}
	model := func(name string) func(*record.Results) {
		return rename("model", "vgg11", name, func(s *record.Setting) *string { return &s.Model })
	}
	dataSet := func(name string) func(*record.Results) {
		return rename("data", "cifar10", name, func(s *record.Setting) *string { return &s.Data })
	}
	setting := func(change func(*record.Setting)) func(*record.Results) {
		return func(r *record.Results) { change(&r.Rows[3].Setting) }
	}
	moved := func(from, to string) func(*record.Results) {
		return ofStep(func(s *record.Steps) {
			for i, v := range s.Phases[from] {
				s.Phases[from][i], s.Phases[to][i] = 0, s.Phases[to][i]+v
			}
		})
	}
	return []resealed{
		{"pauses behind all steps but one", ofStep(func(s *record.Steps) { // as on a crowded machine
			for i := range s.Usage[1:] {
				s.Usage[i] += 0.02
			}
		}), ""},
		{"a larger network", model("resnet50"), "and the gradients of resnet50 are"},
		{"a smaller network", model("resnet20"), "and the gradients of resnet20 are"},
		{"a network of texts", model("bert-mini"), "the network bert-mini cannot read the data set cifar10"},
		{"a network in the row alone", func(r *record.Results) {
			r.Rows[3].Setting.Model = "resnet50"
			ofDDP(func(run *record.Run) { configure(run, `"model":"vgg11"`, `"model":"resnet50"`) })(r)
		}, "rows, rounds or labels were moved"},
		{"data of texts", dataSet("sst2"), "the data set sst2 has 2 classes"},
		{"more classes", setting(func(s *record.Setting) { s.Classes = 100 }), "has 10 classes, the row 100"},
		{"generated", setting(func(s *record.Setting) { s.Generated = true }), "cifar10 is generated: true"},
		{"half a batch", func(r *record.Results) {
			r.Rows[3].Setting.Batch = 128
			ofDDP(func(run *record.Run) { configure(run, `"batch":256`, `"batch":128`) })(r)
		}, "the row has a batch of 128"},
		{"fewer workers on a host", setting(func(s *record.Setting) { s.Hosts = 2 }), "2 hosts of 1 workers"},
		{"a link of one host", setting(func(s *record.Setting) { s.Link = "shm" }), "linked by shm"},
		{"a slow worker", setting(func(s *record.Setting) {
			s.Condition = "worker 1 made 2 times slower by a duty cycle"
		}), "the row's condition is"},
		{"more connections", ofDDP(func(run *record.Run) { run.Streams = 4 }), "run with streams 1"},
		{"fewer bytes received", ofDDP(func(run *record.Run) { run.BytesReceived *= 2 }), "and received"},
		{"compressed", ofDDP(func(run *record.Run) { run.BytesVectors *= 4 }), "nothing was compressed"},
		{"a busier process", ofDDP(func(run *record.Run) { run.BusiestBytes *= 9 }), "its busiest process"},
		{"an idle process", ofDDP(func(run *record.Run) { run.BusiestBytes /= 9 }), "the busiest process"},
		{"less memory", ofDDP(func(run *record.Run) { run.PeakRSSBytes /= 2 }),
			"MB of memory in their steps"},
		{"other losses", func(r *record.Results) {
			ofDDP(func(run *record.Run) {
				for _, rank := range run.Ranks {
					rank.Steps.Loss[9] /= 2
				}
			})(r)
		}, "its ranks one of"},
		{"fewer shards computed", ofStep(func(s *record.Steps) { s.Shards[2] = 0 }), "computed 3 shards"},
		{"no waiting", moved("sync_exposed", "forward"), "never waited for it"},
		{"more hidden", ofDDP(func(run *record.Run) { *run.Ranks[0].Hidden = 2 }), "and hid"},
		{"an epoch left out", ofStep(func(s *record.Steps) { s.Epoch[9] = 2 }), "is of epoch 3"},
		{"trained better", ofDDP(func(run *record.Run) { *run.TrainAccuracy = 0.91234 }),
			"whole number of the 2560 answers"},
		{"evaluated earlier", ofDDP(func(run *record.Run) { run.Evaluations[0].Steps = 5 }),
			"evaluated last after 5 steps"},
		{"another rate", ofDDP(func(run *record.Run) { run.Evaluations[0].Rate = 0.1 }),
			"at a learning rate of 0.1"},
		{"more test samples", ofDDP(func(run *record.Run) { run.TestSamples = 2000 }), "limit-test 1000"},
		{"views", ofDDP(func(run *record.Run) { run.Evaluations[0].Views = 6 }), "6 views of a sample"},
		{"fast cores", all(func(_ *record.Row, run *record.Run) { run.PeakFLOPs = 1e13 }),
			"which no processor does"},
		{"a core fewer", func(r *record.Results) { r.Host.Cores = 1 }, "and there are 1 cores"},
		{"no cores", func(r *record.Results) { r.Host.Cores = -2 }, "has -2 cores"},
		{"another processor", func(r *record.Results) { r.Host.Arch = "arm64" }, "those of amd64"},
		{"no load", func(r *record.Results) { r.Load = -1 }, "The load before the first run"},
		{"a smaller lab", func(r *record.Results) { r.Lab = "--hosts=2" }, "The lab has 2 hosts"},
		{"a lab cut", func(r *record.Results) {
			r.Command, r.Lab = []string{"lockstep", "lab", "--hosts=4", "--", "bench"}, ""
		}, `The command runs in a lab with "--hosts=4"`},
		{"another recipe", func(r *record.Results) { r.Recipe = "r4" }, "the results are of r4"},
		{"another command", func(r *record.Results) {
			r.Command = []string{"lockstep", "bench", "--models=resnet50"}
		}, "asks for models resnet50"},
		{"more rounds", func(r *record.Results) { r.Rounds = 9 }, "asked for 9 rounds"},
		{"a long benchmark", func(r *record.Results) { r.Seconds *= 3 }, "its last run ended after"},
		{"another first sitting", func(r *record.Results) {
			r.Sittings = []record.Sitting{{Started: r.Started, Seconds: r.Seconds, Version: r.Version,
				Host: r.Host, Load: r.Load}}
			r.Host.CPU = "Intel Xeon"
		}, "their first sitting"},
		{"losses of no row", func(r *record.Results) {
			r.Peers = []record.PeerCheck{{Peer: "pytorch", Model: "lenet", Data: "cifar10", Batch: 1}}
		}, "and no row is of it"},
	}
}

// unwritten lists what lockstep bench never writes.
func unwritten() []resealed {
	all := func(change func(*record.Run)) func(*record.Results) {
		return func(r *record.Results) {
			for i := range r.Rows {
				for j := range r.Rows[i].Runs {
					change(&r.Rows[i].Runs[j])
				}
			}
		}
	}
	third := func(change func(*record.Setting)) func(*record.Results) {
		return func(r *record.Results) { change(&r.Rows[2].Setting) }
	}
	failed := func(reason string, runs ...int) func(*record.Results) {
		return func(r *record.Results) {
			for _, at := range runs {
				r.Rows[2].Runs[at].Error = reason
			}
		}
	}
	skip := func(reason string) func(*record.Results) {
		return func(r *record.Results) {
			r.Skipped = []record.Skip{{Model: "vgg11", Strategy: "ddp", Workers: 8, Reason: reason}}
		}
	}
	const none = "which is none that lockstep bench makes"
	return []resealed{
		{"no configurations", all(func(run *record.Run) { run.Config = nil }),
			"has no model: it was removed"},
		{"empty configurations", all(func(run *record.Run) { run.Config = []byte("{}") }), "has no model"},
		{"no folders", all(func(run *record.Run) { run.Directory = "" }), none},
		{"folders elsewhere", all(func(run *record.Run) { run.Directory = "x/" + run.Directory }), none},
		{"folders above", all(func(run *record.Run) { run.Directory = "../y/" + run.Directory }), none},
		{"settings exchanged and their traces removed", func(r *record.Results) {
			all(func(run *record.Run) { run.Config, run.Directory = nil, "runs/a" })(r)
			r.Rows[2].Setting, r.Rows[3].Setting = r.Rows[3].Setting, r.Rows[2].Setting
		}, none},
		{"another condition", third(func(s *record.Setting) { s.Condition = "another hour" }),
			`its condition is "another hour"`},
		{"a batch of each worker", third(func(s *record.Setting) { s.PerWorker = 64 }),
			"Rows 1 and 3 were run side by side to be compared"},
		{"another batch of each worker", func(r *record.Results) {
			for i := range r.Rows {
				r.Rows[i].Setting.PerWorker = 256
			}
		}, "has 4 workers with 256 samples each, and a batch of 256"},
		{"more cores", third(func(s *record.Setting) { s.Cores = 64 }), "it has 64 cores on 4 hosts"},
		{"another bucket", third(func(s *record.Setting) { s.Options = "bucket=4MiB" }),
			`run with bucket "1048576"`},
		{"no such setting", func(r *record.Results) {
			r.Rows[2].Setting.Options = "tuned"
			for i := range r.Rows[2].Runs {
				r.Rows[2].Runs[i].Directory += "-tuned"
			}
		}, "no run has one of this name"},
		{"a setting that no folder names", third(func(s *record.Setting) { s.Options = "bucket=1MiB" }),
			`the row has the settings "bucket=1MiB"`},
		{"called another program", third(func(s *record.Setting) { s.Peer = "pytorch" }),
			"the row is of pytorch"},
		{"one run called failed", failed("x", 0), "it is said to have failed"},
		{"all but one called failed", failed("killed", 1, 2, 3), "it is said to have failed"},
		{"a reason of its own", skip("projected: 12 ms, 9.5x as fast as single"), "for a reason that"},
		{"left out by the budget", skip(record.BudgetOver), ""},
	}
}

// Seals show accident. Who changes results and seals them again is found by what they say twice, and check,
// report and bundle agree on it.
func TestResealed(t *testing.T) {
	cases := slices.Concat([]resealed{{"as it was", func(*record.Results) {}, ""}}, outOfRange(),
		relabelled(), misfitting(), restated(), unwritten(), honest())
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			folder := t.TempDir()
			r := measuredRounds(t)
			c.doctor(r)
			reseal(t, folder, r)
			want := job.ExitOK
			if c.want != "" {
				want = job.ExitCheck
			}
			for _, args := range [][]string{{"check", filepath.Join(folder, "results.json")},
				{"report", folder}, {"bundle", folder, "-o", filepath.Join(t.TempDir(), "b.tar.gz")}} {
				status, stdout, stderr := execute(args...)
				if said := stdout + stderr; status != want || !strings.Contains(said, c.want) {
					t.Errorf("%s: status %d, %.600q; want %q", args[0], status, said, c.want)
				}
			}
		})
	}
}

// Results without a row are no benchmark, whoever reads them.
func TestResultsWithoutRows(t *testing.T) {
	folder := t.TempDir()
	r := measuredRounds(t)
	r.Rows = nil
	reseal(t, folder, r)
	for _, args := range [][]string{{"check", filepath.Join(folder, "results.json")}, {"report", folder},
		{"bundle", folder, "-o", filepath.Join(t.TempDir(), "b.tar.gz")}} {
		if status, _, stderr := execute(args...); status != job.ExitUsage ||
			!strings.Contains(stderr, "results without rows") {
			t.Errorf("%s: status %d, %q", args[0], status, stderr)
		}
	}
}

// A benchmark ends while the run that was interrupted goes on, so its time is no contradiction.
func TestAnInterruptedBenchmarkHasAReport(t *testing.T) {
	folder, r := t.TempDir(), measuredRounds(t)
	r.Complete = false
	r.Seconds += 60
	reseal(t, folder, r)
	if status, _, stderr := execute("report", folder); status != job.ExitOK {
		t.Errorf("status %d, %q", status, stderr)
	}
}

// honest lists what lockstep bench may well write, and is no contradiction.
func honest() []resealed {
	// own gives the row of ddp a setting of its own, as it was given and as its runs have it.
	own := func(option, old, now string) func(*record.Results) {
		return func(r *record.Results) {
			r.Rows[3].Setting.Options = option
			ofDDP(func(run *record.Run) {
				configure(run, old, now)
				run.Directory += "-" + strings.NewReplacer("=", "-", ",", "-", "*", "-").Replace(option)
			})(r)
		}
	}
	everywhere := func(change func(*record.Row, *record.Run)) func(*record.Results) {
		return func(r *record.Results) {
			for i := range r.Rows {
				for j := range r.Rows[i].Runs {
					change(&r.Rows[i], &r.Rows[i].Runs[j])
				}
			}
		}
	}
	return []resealed{
		{"a setting with the name of a link's", own("staleness-rate", `"staleness-rate":false`,
			`"staleness-rate":true`), ""},
		{"numbers as given", own("lookahead=5,0.50", `"lookahead":""`, `"lookahead":"5,0.5"`), ""},
		{"a switch as given", own("nesterov=1", `"nesterov":false`, `"nesterov":true`), ""},
		{"seed 0", ofDDP(func(run *record.Run) {
			run.Seed = 0
			configure(run, `"seed":1`, `"seed":0`)
		}), ""},
		{"a batch that has grown", func(r *record.Results) {
			everywhere(func(row *record.Row, run *record.Run) {
				row.Setting.Batch = 128
				configure(run, `"batch":256`, `"batch":128,"adaptive-batch":512`)
			})(r)
		}, ""},
		{"a wire chosen by each run", func(r *record.Results) {
			r.Rows[3].Setting.IsLossy = true
			ofDDP(func(run *record.Run) { configure(run, `"wire":"fp32"`, `"wire":"auto"`) })(r)
		}, ""},
		{"an exchange behind the last step", ofDDP(func(run *record.Run) {
			configure(run, `"overlap-forward":false`, `"overlap-forward":true`)
			for _, rank := range run.Ranks {
				rank.Steps.Sent[9], rank.Steps.Received[9] = 0, 0
			}
		}), ""},
		{"memory of a system without a peak", func(r *record.Results) {
			r.Host.OS = "darwin"
			ofDDP(func(run *record.Run) { run.PeakRSSBytes /= 2 })(r)
		}, ""},
		{"a repeat that was interrupted", func(r *record.Results) {
			r.Rows[0].Runs[3].Taken = &record.Taken{Others: 0.2}
			r.Seconds += 60
		}, ""},
		{"a run interrupted after the budget left one out", func(r *record.Results) {
			r.Complete, r.CutShort = false, true
			r.Seconds += 60
		}, ""},
		{"a length of each row", func(r *record.Results) {
			r.Command = []string{"lockstep", "bench", "--epochs=2"}
			r.Rows[4].Replaced[0].Directory += "-steps-10"
			everywhere(func(row *record.Row, run *record.Run) {
				if row.Setting.Options == "" {
					row.Setting.Options = "steps=10"
				}
				run.Directory += "-steps-10"
			})(r)
		}, ""},
	}
}
