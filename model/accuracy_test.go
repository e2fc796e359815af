package model_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"lockstep/compute"
	"lockstep/random"
)

// accuracyCase is a training run of a few steps that PyTorch computed in float64, with the distance of
// PyTorch's own float32 or autocast runs from it, by variant (which kernels, format, threads) and quantity.
type accuracyCase struct {
	Recipe            parityRecipe
	Float64           accuracyRun
	Float32, Autocast map[string]distances
}

// accuracyRun holds what is compared: the losses before each step, the logits of the first and the last
// step, and some entries of each parameter's first gradient and of its change by all steps.
type accuracyRun struct {
	Losses             []float64
	Logits             [2][]float64
	Gradients, Changes map[string][]float64
}

// distances are relative, by quantity.
type distances map[string]float64

// quantities lists what distances are of.
func quantities() []string {
	return []string{"losses", "first_logits", "last_logits", "gradients", "changes"}
}

// farther is how many times as far from float64 as the one of PyTorch's float32 kernels that is farthest each
// kind of math may be, by entries of which each parameter has equally many. TestWeightsAccuracy holds fast
// math to PyTorch's default.
const farther = 3

// TestAccuracy trains the cases and compares the distance of each kind of math from float64 with that of
// PyTorch's float32 kernels. Over the seeds both the median and the largest distance are compared: where a
// unit lies at the border of its ReLU or of being a maximum, rounding decides which way it goes and the
// gradients jump, in PyTorch's variants as in ours, so that the largest distance is often such a jump and
// the median is not. With -v it prints the distances, of which docs/design/0004 has a table.
func TestAccuracy(t *testing.T) {
	for name, cases := range readAccuracy(t, "pytorch.json") {
		for _, config := range accuracyConfigs() {
			t.Run(fmt.Sprintf("%s/%v", name, config.Math), func(t *testing.T) {
				t.Parallel()
				checkAccuracy(t, cases, config)
			})
		}
	}
}

// accuracyConfigs lists what models are trained with: each math on the fastest path. All paths have the same
// bits (docs/design/0041).
func accuracyConfigs() (list []compute.Config) {
	for _, m := range []compute.Math{compute.Exact, compute.Fast, compute.BF16x6} {
		if isExtra := testing.Short() && m != compute.Fast; m.On(compute.Best()) == nil && !isExtra {
			list = append(list, compute.Config{ISA: compute.Best(), Math: m})
		}
	}
	return list
}

func checkAccuracy(t *testing.T, cases []accuracyCase, config compute.Config) {
	variants := map[string][]distances{}
	for _, c := range cases {
		for name, d := range c.Float32 {
			variants[name] = append(variants[name], d)
		}
	}
	compareDistances(t, cases, config, variants, farther)
}

// compareDistances trains the cases and compares the distances, over the seeds, with those of PyTorch's
// variants: they may be so many times as large.
func compareDistances(t *testing.T, cases []accuracyCase, config compute.Config,
	variants map[string][]distances, times float64) {
	t.Helper()
	var all []distances
	for _, c := range cases {
		all = append(all, c.run(t, config).distance(c.Float64))
	}
	for _, q := range quantities() {
		median, largest := overSeeds(all, q)
		var medianBound, largestBound float64
		for _, d := range variants {
			typical, most := overSeeds(d, q)
			medianBound, largestBound = max(medianBound, typical), max(largestBound, most)
		}
		t.Logf("%-12s median %.2g, PyTorch's at most %.2g; largest %.2g, PyTorch's %.2g",
			q, median, medianBound, largest, largestBound)
		if !(median <= times*medianBound) || !(largest <= times*largestBound) {
			t.Errorf("%s: more than %v times as far from float64 as PyTorch", q, times)
		}
	}
}

// autocastFarther is how many times as far from float64 as PyTorch's autocast math bf16 may be. The most was
// 1.8, in the changes of bert-tiny, where AdamW makes steps of the learning rate of gradients near zero; all
// else was nearer to float64 than autocast.
const autocastFarther = 2

// TestAutocastAccuracy trains networks with products that math bf16 rounds, and compares their distance from
// float64 with that of PyTorch's autocast, which rounds all products and what they give. With -v it prints
// the distances, of which docs/design/0028 has a table. All paths give products the same bits.
func TestAutocastAccuracy(t *testing.T) {
	for name, cases := range readAccuracy(t, "autocast.json") {
		variants := map[string][]distances{}
		for _, c := range cases {
			variants["autocast"] = append(variants["autocast"], c.Autocast["default"])
		}
		if compute.Best() == compute.Plain || testing.Short() && name == "resnet50" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := compute.Config{ISA: compute.Best(), Math: compute.BF16}
			compareDistances(t, cases, config, variants, autocastFarther)
		})
	}
}

// overSeeds returns the median and the largest distance of a quantity.
func overSeeds(all []distances, quantity string) (typical, largest float64) {
	var values []float64
	for _, d := range all {
		values = append(values, d[quantity])
	}
	return median(values), slices.Max(values)
}

// readAccuracy returns the cases of a file by model.
func readAccuracy(t *testing.T, file string) map[string][]accuracyCase {
	text, err := os.ReadFile(filepath.Join("..", "results", "accuracy", file))
	if err != nil {
		t.Fatal(err)
	}
	var all struct{ Cases []accuracyCase }
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	models := map[string][]accuracyCase{}
	for _, c := range all.Cases {
		models[c.Recipe.Model] = append(models[c.Recipe.Model], c)
	}
	return models
}

// entries is how many values of each parameter are compared.
const entries = 8

// entryStream numbers the stream that chooses them.
const entryStream = random.Stream(200000)

// run trains the case.
func (c accuracyCase) run(t *testing.T, config compute.Config) accuracyRun {
	r := newReplica(t, &parityCase{Recipe: c.Recipe}, config)
	result := accuracyRun{Changes: r.entries(r.v.Weights, -1)}
	for step := range c.Recipe.Steps {
		result.Losses = append(result.Losses, r.gradients())
		if step == 0 {
			result.Logits[0] = widen(r.p.Logits())
			result.Gradients = r.entries(r.grads[0], 1/float64(c.Recipe.Batch))
		}
		r.update()
	}
	result.Logits[1] = widen(r.p.Logits())
	for name, end := range r.entries(r.v.Weights, 1) {
		for k := range end {
			result.Changes[name][k] += end[k]
		}
	}
	return result
}

// entries returns the compared values of each parameter in a flat vector, scaled.
func (r *replica) entries(flat []float32, scale float64) map[string][]float64 {
	named := map[string][]float64{}
	at := r.c.Recipe.stream(entryStream)
	for p, param := range r.v.Params {
		all, some := r.canonical(p, flat), make([]float64, entries)
		for k := range some {
			some[k] = float64(all[at.Word(uint64(k))%uint64(len(all))]) * scale
		}
		named[param.Name] = some
	}
	return named
}

func widen(values []float32) []float64 {
	wide := make([]float64, len(values))
	for i, v := range values {
		wide[i] = float64(v)
	}
	return wide
}

// distance returns how far r is from want by the formulas of results/accuracy/pytorch.py.
func (r accuracyRun) distance(want accuracyRun) distances {
	var losses, gradients, changes []float64
	for step, loss := range want.Losses {
		losses = append(losses, r.Losses[step]/loss-1)
	}
	for name := range want.Gradients {
		gradients = append(gradients, relative(r.Gradients[name], want.Gradients[name]))
		changes = append(changes, relative(r.Changes[name], want.Changes[name]))
	}
	return distances{
		"losses":       rootMeanSquare(losses),
		"first_logits": relative(r.Logits[0], want.Logits[0]),
		"last_logits":  relative(r.Logits[1], want.Logits[1]),
		"gradients":    rootMeanSquare(gradients),
		"changes":      rootMeanSquare(changes),
	}
}

// relative returns the norm of got - want relative to that of want.
func relative(got, want []float64) float64 {
	var apart, size float64
	for i, w := range want {
		apart += (got[i] - w) * (got[i] - w)
		size += w * w
	}
	return math.Sqrt(apart / size)
}

func rootMeanSquare(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v * v
	}
	return math.Sqrt(sum / float64(len(values)))
}
