package launcher_test

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lockstep/app/job/launcher"
	"lockstep/app/record"
	"lockstep/app/setting"
	"lockstep/graph"
	"lockstep/model"
	"lockstep/nn"
	"lockstep/optim"
)

var (
	drawPairs = flag.Int("pairs", 16, "pairs of runs that TestDrawnRunsEndWithTheSameBits draws")
	drawSeed  = flag.Uint64("drawseed", 101, "seed of the first pair; the next ones count up")
	drawISA   = flag.String("drawisa", "", "kernel path of the second run of each pair; empty: drawn")
)

// draws are the values that a setting may be given, by its name. The empty one leaves it out.
type draws map[string][]string

// questions are settings that decide what a run computes.
func questions() draws {
	return draws{
		"model":     {"lenet", "lenet", "lenet", "lenet", "lenet", "tangle", "tangle", "tangle", "bert-tiny"},
		"data":      {"synthetic", "synthetic", "glyphs"},
		"optimizer": optim.Names(), "math": {"", "fast", "exact", "bf16", "bf16x3", "bf16x6"},
		"seed":  {"", "2", "3"},
		"batch": {"5", "8", "12", "17"}, "shards": {"1", "2", "3", "4", "5", "5"},
		"accumulate":  {"", "", "2", "3"},
		"limit-train": {"16", "23", "40"}, "steps": {"2", "3"},
		"lr": {"0.01", "0.003"}, "momentum": {"", "0"}, "nesterov": {"", "", "true"},
		"weight-decay": {"", "0.01"}, "decay": {"", "matrices"}, "beta1": {"", "0.8"}, "eps": {"", "1e-6"},
		"groups": {"", "", "*.bias=2,0"}, "clip": {"", "", "0.5"}, "ema": {"", "", "0.9"},
		"lookahead": {"", "", "2,0.5"}, "label-smoothing": {"", "0.1"}, "augment": {"", "", "flip"},
		"schedule": {"", "", "cosine", "step"}, "warmup": {"", "", "1"}, "scale-lr": {"", "", "sqrt,8"},
	}
}

// ways are settings that are said not to change what a run computes.
func ways() draws {
	return draws{
		"isa":     {"", "", "avx2", "plain"},
		"workers": {"1", "2", "2", "3", "3", "4", "4", "5", "5"}, "threads": {"1", "1", "2", "3"},
		"link": {"local", "local", "local", "shm", "tcp"},
		"strategy": {"", "single", "gather-scatter", "all-reduce", "ddp", "ddp", "ps", "ps", "ps-async",
			"local-sgd"},
		"staleness": {"0"}, "average-every": {"1"},
		"algorithm": {"", "", "direct", "halving-doubling", "tree", "gather", "one-shot", "hierarchical"},
		"wire":      {"", "deflate", "zstd"}, "bucket": {"", "4", "4096", "50000"},
		"servers": {"", "2", "3"}, "server-place": {"", "apart"}, "memory": {"", "", "1", "100000"},
		"shard-optimizer": {"", "", "true"}, "overlap-forward": {"", "", "true"},
		"rebalance": {"", "", "true"}, "slow-worker": {"", "", "1:1.5", "1:2ms"},
		"slow-loader": {"", "", "2ms"}, "streams": {"", "2"}, "socket-buffer": {"", "", "65536"},
		"resident":   {"", "", "4GiB"},
		"eval-every": {"", "0"}, "trace": {"", "", "", "", "true"},
	}
}

// draw gives each setting one of its values.
func (d draws) draw(r *rand.Rand) map[string]string {
	flags := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(d)) {
		if value := d[name][r.IntN(len(d[name]))]; value != "" {
			flags[name] = value
		}
	}
	return flags
}

// tangle is a small network with batch norm, a residual and weights of several forms.
func tangle(x *graph.Node, classes int) *graph.Node {
	x = nn.Sequential{nn.Conv{Out: 5, Size: 3, Pad: 1}, nn.BatchNorm{}, nn.ReLU{}, nn.MaxPool{Size: 2}}.
		Apply("stem", x)
	y := nn.Sequential{nn.Conv{Out: 5, Size: 3, Pad: 1}, nn.BatchNorm{}, nn.ReLU{}}.Apply("body", x)
	return nn.Linear{Out: classes}.Apply("head", graph.Flatten(graph.Add(x, y)))
}

// ownCatalog has the network besides those that come with the program.
func ownCatalog() *setting.Catalog {
	models, err := model.Catalog{}.With("tangle", tangle)
	if err != nil {
		panic(err)
	}
	return &setting.Catalog{Models: models}
}

// A drawer draws runs and carries them out.
type drawer struct {
	*testing.T
	*rand.Rand
	catalog *setting.Catalog
	// isHere keeps all workers in this process.
	isHere bool
}

// resolve returns the configuration of the given flags, if they make one that is said to end with the bits of
// one worker.
func (d drawer) resolve(flags ...map[string]string) (setting.Config, bool) {
	d.Helper()
	given := map[string]string{"size": "16", "sequence": "8", "limit-test": "3", "save": "false"}
	for _, f := range flags {
		maps.Copy(given, f)
	}
	c, _, err := setting.Resolve(setting.Source{Catalog: d.catalog, Flags: given})
	if refused := (*setting.UsageError)(nil); err != nil && !errors.As(err, &refused) {
		d.Fatal(err)
	}
	return c, err == nil && c.Inexact() == ""
}

// question draws a run of one worker.
func (d drawer) question() (flags map[string]string, alone setting.Config) {
	for {
		flags = questions().draw(d.Rand)
		c, isOne := d.resolve(flags, map[string]string{"workers": "1", "threads": "1", "strategy": "single"})
		if isOne {
			return flags, c
		}
	}
}

// way draws another way to do the work of flags.
func (d drawer) way(flags map[string]string) (way map[string]string, c setting.Config) {
	for {
		way = d.ways()
		if c, isOne := d.resolve(flags, way); isOne {
			return way, c
		}
	}
}

func (d drawer) ways() map[string]string {
	way := ways().draw(d.Rand)
	if d.isHere {
		way["link"] = "local"
	}
	if *drawISA != "" {
		way["isa"] = *drawISA
	}
	return way
}

// end runs c and returns how it ended.
func (d drawer) end(c setting.Config) (*record.Summary, error) {
	self, err := os.Executable()
	if err != nil {
		d.Fatal(err)
	}
	return launcher.Run(d.Context(), c, launcher.Options{Worker: []string{self}})
}

// resume draws another way for the rest of a run with these flags, which is begun in a way, and ends it so.
func (d drawer) resume(flags, way map[string]string) (rest map[string]string, s *record.Summary, err error) {
	steps, _ := strconv.Atoi(flags["steps"])
	folder := filepath.Join(d.TempDir(), "run")
	first, isOne := d.resolve(flags, way, map[string]string{"steps": strconv.Itoa(1 + d.IntN(steps-1)),
		"checkpoint-every": "1", "out": folder})
	if !isOne {
		return nil, nil, nil
	}
	if _, err := d.end(first); err != nil {
		return nil, nil, err
	}
	for {
		rest = d.ways()
		for _, name := range []string{"wire", "eval-every", "trace", "average-every"} {
			delete(rest, name) // is that of the run
		}
		c, _, err := setting.Resolve(setting.Source{Catalog: d.catalog, Flags: with(rest,
			map[string]string{"resume": folder, "steps": flags["steps"]})})
		if err == nil && c.Inexact() == "" {
			s, err = d.end(c)
			return rest, s, err
		}
	}
}

// with returns the flags of both.
func with(a, b map[string]string) map[string]string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// Whatever a run computes, all that is said not to change a bit of it does not: pairs of a run of one worker
// and the same in another way, both drawn at random. The short tests draw a quarter, because the race
// detector makes them ten times as long.
func TestDrawnRunsEndWithTheSameBits(t *testing.T) {
	pairs := *drawPairs
	if testing.Short() {
		pairs /= 4
	}
	for i := range pairs {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			d := drawer{t, rand.New(rand.NewPCG(*drawSeed+uint64(i), 0)), ownCatalog(), *drawPairs <= 50}
			flags, alone := d.question()
			way, c := d.way(flags)
			alone.Out, c.Out = filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "run")
			want, err := d.end(alone)
			if err != nil {
				t.Fatalf("%v: %v", words(flags), err)
			}
			got, err := d.end(c)
			if err != nil {
				t.Fatalf("%v %v: %v", words(flags), words(way), err)
			}
			if got.ParameterSHA256 != want.ParameterSHA256 || got.Loss != want.Loss {
				t.Errorf("%s: %s, loss %v, but with %s: %s, loss %v", words(flags), want.ParameterSHA256,
					want.Loss, words(way), got.ParameterSHA256, got.Loss)
			}
			hasLength := flags["schedule"] == "cosine" // which the end of the first part would change
			if hasLength || d.IntN(4) > 0 {
				return
			}
			rest, got, err := d.resume(flags, way)
			if err != nil {
				t.Fatalf("%v %v, resumed: %v: %v", words(flags), words(way), words(rest), err)
			}
			if got != nil && got.ParameterSHA256 != want.ParameterSHA256 {
				t.Errorf("%s: %s, but with %s and resumed with %s: %s", words(flags), want.ParameterSHA256,
					words(way), words(rest), got.ParameterSHA256)
			}
		})
	}
}

// words writes flags as on a command line.
func words(flags map[string]string) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		all = append(all, fmt.Sprintf("--%s=%s", name, flags[name]))
	}
	return strings.Join(all, " ")
}

// What a setting's help says to change no result is drawn.
func TestWhatChangesNoResultIsDrawn(t *testing.T) {
	for _, s := range setting.Settings(nil) {
		if strings.Contains(s.Usage, "changes no result") && ways()[s.Name] == nil {
			t.Errorf("--%s: %s; but no run is drawn with it", s.Name, s.Usage)
		}
	}
}
