package model_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockstep/compute"
	"lockstep/graph"
	"lockstep/model"
	"lockstep/random"
	"lockstep/shard"
	"lockstep/tensor"
)

// parityCase is one file of reference numbers; its README says what they are.
type parityCase struct {
	Case             string
	Recipe           parityRecipe
	Float64, Float32 parityColumn
}

// parityRecipe says what is trained, and how.
type parityRecipe struct {
	Model, Optimizer                              string
	Batch, Size, Sequence, Classes, Shards, Steps int
	Seed                                          uint64
	LR                                            float64 // 0 is the parity cases': see rate
}

// stream returns random stream number n of the recipe's seed.
func (r parityRecipe) stream(n random.Stream) random.Stream { return random.Stream(r.Seed*1000000) + n }

// rate returns the learning rate.
func (r parityRecipe) rate() float64 {
	switch {
	case r.LR != 0:
		return r.LR
	case r.Optimizer == "sgd":
		return 0.05
	}
	return 1e-3
}

// parityColumn is what PyTorch computed in one precision.
type parityColumn struct {
	Losses    []float64
	Gradients map[string]struct {
		L2, Sum float64
		Index   []int
		Value   []float64
	}
	Parameters map[string]float64 `json:"final_parameter_l2"`
	Buffers    map[string]float64 `json:"final_buffer_l2"`
}

// Numbers of the random streams in the cases.
const (
	imageStream  = random.Stream(100000) // or of token ids
	labelStream  = random.Stream(100001)
	lengthStream = random.Stream(100002)
)

// parityFiles lists the reference cases: those kept here, and those of a folder of more.
func parityFiles(t *testing.T) []string {
	dir := os.Getenv("LOCKSTEP_PARITY_DIR")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "parity")
	}
	more, _ := filepath.Glob(filepath.Join(dir, "*.json"))
	if len(more) == 0 {
		t.Logf("no reference cases in %s; LOCKSTEP_PARITY_DIR names another folder", dir)
	}
	kept, _ := filepath.Glob(filepath.Join("testdata", "parity", "*.json"))
	return append(kept, more...)
}

// TestParity trains each reference case and compares losses, first gradients and final values with
// PyTorch's, on the fastest ISA of this machine: all have the same bits (docs/design/0041). The cases are
// chaotic: PyTorch's own kernels part from each other within their few steps. So math that rounds more than
// exact is held to the first step too, with wider bounds, and over several steps by TestAccuracy.
func TestParity(t *testing.T) {
	for _, file := range parityFiles(t) {
		c := readCase(t, file)
		t.Run(c.Case, func(t *testing.T) {
			t.Parallel()
			if !slices.Contains(model.Names(), c.Recipe.Model) {
				t.Skipf("no model %s yet", c.Recipe.Model)
			}
			t.Run("exact", func(t *testing.T) {
				t.Parallel() // one thread
				checkCase(t, c, compute.Config{ISA: compute.Best(), Math: compute.Exact})
			})
			t.Run("fast", func(t *testing.T) {
				t.Parallel()
				checkFirst(t, c, compute.Config{ISA: compute.Best()}, fastRounding)
			})
			if c.Recipe.Model == "bert-tiny" { // texts, which are not in train/testdata/golden.json
				t.Run("plain", func(t *testing.T) {
					t.Parallel()
					checkFirst(t, c, compute.Config{ISA: compute.Plain, Math: compute.Exact}, 1)
				})
			}
			t.Run("bf16x6", func(t *testing.T) {
				t.Parallel()
				checkFirst(t, c, compute.Config{ISA: compute.AVX512, Math: compute.BF16x6}, fastRounding)
			})
			t.Run("bf16x3", func(t *testing.T) {
				t.Parallel()
				checkFirst(t, c, compute.Config{ISA: compute.AVX512, Math: compute.BF16x3}, partsRounding)
			})
		})
	}
}

func readCase(t *testing.T, file string) *parityCase {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c := &parityCase{}
	if err := json.Unmarshal(text, c); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return c
}

// partsRounding is by how much products of two parts round more than float32 does (docs/design/0007).
const partsRounding = 27

// fastRounding is by how much Winograd's algorithm rounds more than direct convolution does, at most
// (results/winograd_accuracy.md).
const fastRounding = 4

// checkFirst compares the first loss and gradients. Those of math that rounds more have bounds as much wider:
// where a unit lies at the border of its ReLU or of being a maximum, that already decides which way it
// goes, and a gradient's norm moves by some 1e-4 (vgg11 on the plain path).
func checkFirst(t *testing.T, c *parityCase, config compute.Config, rounding float64) {
	if cpu, err := compute.Open(config); err != nil {
		t.Skip(err)
	} else {
		cpu.Close()
	}
	r := newReplica(t, c, config)
	want, bound := c.lossBound(0)
	if loss := r.gradients(); !(math.Abs(loss-want) <= rounding*bound) {
		t.Errorf("step 0: loss %.9g, want %.9g +- %.2g", loss, want, rounding*bound)
	}
	r.checkGradients(t, rounding)
}

// checkCase runs all steps of c.
func checkCase(t *testing.T, c *parityCase, config compute.Config) {
	checkSteps(t, c, newReplica(t, c, config))
}

// checkSteps runs all steps of a replica.
func checkSteps(t *testing.T, c *parityCase, r *replica) {
	for step := range c.Float64.Losses {
		checkLoss(t, c, step, r.gradients())
		if step == 0 {
			r.checkGradients(t, 1)
		}
		r.update()
	}
	wide, narrow := c.Float64, c.Float32
	for p, param := range r.v.Params {
		if c.Recipe.Optimizer == "adamw" && c.Float64.isNoise(param.Name) {
			continue // AdamW scales gradients, and so rounding errors, up to the learning rate
		}
		checkFinal(t, param.Name, l2(r.canonical(p, r.v.Weights)), wide.Parameters, narrow.Parameters)
	}
	for i, s := range r.v.States {
		checkFinal(t, s.Name, l2(r.v.StateOf(i)), wide.Buffers, narrow.Buffers)
	}
}

// isNoise reports whether the gradient of a parameter is zero but for rounding: that of a bias in front of
// a batch norm, or of keys, which shifts all scores of a query.
func (c *parityColumn) isNoise(name string) bool {
	return c.Gradients[name].L2 < 1e-6*c.largestGradient()
}

func (c *parityColumn) largestGradient() float64 {
	largest := 0.0
	for _, g := range c.Gradients {
		largest = max(largest, g.L2)
	}
	return largest
}

// lossBound returns the loss of a step in float64 and how far from it one in float32 may be.
func (c *parityCase) lossBound(step int) (want, bound float64) {
	want = c.Float64.Losses[step]
	if step == 0 {
		return want, 1e-5 * want
	}
	return want, 3*math.Abs(want-c.Float32.Losses[step]) + 1e-4*want
}

func checkLoss(t *testing.T, c *parityCase, step int, loss float64) {
	t.Helper()
	if want, bound := c.lossBound(step); !(math.Abs(loss-want) <= bound) {
		t.Errorf("step %d: loss %.9g, want %.9g +- %.2g", step, loss, want, bound)
	}
}

// checkFinal compares the norm of a tensor after the last step. The bound is that of later losses,
// with the largest distance between the columns, relative to the norm, over all tensors: what
// rounding does to a single one is chance.
func checkFinal(t *testing.T, name string, got float64, wide, narrow map[string]float64) {
	t.Helper()
	rounding := 0.0
	for other, norm := range wide {
		if norm > 0 {
			rounding = max(rounding, math.Abs(narrow[other]-norm)/norm)
		}
	}
	want := wide[name]
	if bound := (3*rounding + 1e-4) * want; !(math.Abs(got-want) <= bound) {
		t.Errorf("final %s: L2 %.9g, want %.9g +- %.2g", name, got, want, bound)
	}
}

// replica is one training run of a case.
type replica struct {
	c               *parityCase
	p               *graph.Program
	v               *graph.Variables
	images          []float32 // NHWC, of the whole batch
	tokens, lengths []int32   // of texts, instead of images
	labels          []int32
	grads           [][]float32 // by shard; the first ends as the sum
	first, second   []float32   // moments of the optimizer
	steps           int
}

func newReplica(t *testing.T, c *parityCase, config compute.Config) *replica {
	cpu, err := compute.Open(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cpu.Close)
	return newReplicaFor(t, c, graph.NewHost(cpu))
}

// newReplicaFor is newReplica for a given executor.
func newReplicaFor(t *testing.T, c *parityCase, ex graph.Executor) *replica {
	input := tensor.Shape{c.Recipe.Size, c.Recipe.Size, 3}
	if (model.Catalog{}).ReadsTexts(c.Recipe.Model) {
		input = tensor.Shape{c.Recipe.Sequence}
	}
	net, err := model.NamedWith(c.Recipe.Model, c.Recipe.Classes, input, 0)
	if err != nil {
		t.Fatal(err)
	}
	r := &replica{c: c, p: compileFor(t, net, c.Recipe.Batch/c.Recipe.Shards, ex, true)}
	r.v = graph.NewVariables(r.p)
	r.v.Initialize(0) // for the states; parameters follow
	for i, param := range r.v.Params {
		r.v.SetParam(i, startOf(c.Recipe.stream(random.Stream(i)), param))
	}
	if err := r.p.Attach(r.v); err != nil {
		t.Fatal(err)
	}
	for range c.Recipe.Shards {
		r.grads = append(r.grads, r.v.NewGradient())
	}
	r.first, r.second = r.v.NewGradient(), r.v.NewGradient()
	if net.ReadsTexts() {
		r.tokens, r.lengths = c.Recipe.texts()
	} else {
		r.images = c.Recipe.images()
	}
	labels := c.Recipe.stream(labelStream)
	for i := range c.Recipe.Batch {
		r.labels = append(r.labels, int32(labels.Word(uint64(i))%uint64(c.Recipe.Classes)))
	}
	return r
}

// startOf returns the starting values of a parameter in canonical order, drawn from its stream.
func startOf(stream random.Stream, p graph.Param) []float32 {
	bound, center := 0.1, float32(0)
	_, isNorm := p.Init.(graph.Constant)
	switch {
	case isNorm && strings.HasSuffix(p.Name, ".weight"):
		center = 1
	case strings.HasSuffix(p.Name, "_embeddings.weight"):
		bound = 0.05
	case len(p.Shape) > 1:
		bound = math.Sqrt(3 / float64(p.Shape[1:].Elems()))
	}
	values := make([]float32, p.Shape.Elems())
	for j := range values {
		values[j] = stream.Symmetric(uint64(j), bound) + center
	}
	return values
}

// images returns the images, drawn as [N, 3, S, S] and stored as [N, S, S, 3].
func (r parityRecipe) images() []float32 {
	n, size, pixels := r.Batch, r.Size, r.stream(imageStream)
	drawn := make([]float32, n*3*size*size)
	for i := range drawn {
		drawn[i] = pixels.Symmetric(uint64(i), 1)
	}
	images := make([]float32, len(drawn))
	tensor.Layout{View: tensor.Shape{n, 3, size, size}, Perm: []int{0, 2, 3, 1}}.
		FromCanonical(images, drawn)
	return images
}

// texts returns the token ids, drawn as [N, T], without those that are masked.
func (r parityRecipe) texts() (tokens, lengths []int32) {
	const words = 30522
	ids, ends, most := r.stream(imageStream), r.stream(lengthStream), r.Sequence
	for i := range r.Batch {
		length := most/2 + int(ends.Word(uint64(i))%uint64(most/2+1))
		for j := range length {
			tokens = append(tokens, int32(ids.Word(uint64(i*most+j))%words))
		}
		lengths = append(lengths, int32(length))
	}
	return tokens, lengths
}

// setInput gives the program the samples of a shard.
func (r *replica) setInput(s int) {
	n := r.p.Samples()
	r.p.Input("labels").SetInts(r.labels[s*n : (s+1)*n])
	if r.lengths == nil {
		pixels := len(r.images) / len(r.grads)
		r.p.Input("images").SetFloats(r.images[s*pixels : (s+1)*pixels])
		return
	}
	total := func(lengths []int32) (sum int) {
		for _, l := range lengths {
			sum += int(l)
		}
		return sum
	}
	from, lengths := total(r.lengths[:s*n]), r.lengths[s*n:(s+1)*n]
	r.p.Input("texts").SetTexts(r.tokens[from:from+total(lengths)], lengths)
}

// gradients runs every shard forward and backward, leaves the sum of the gradients, taken along the
// tree, in grads[0], moves the running statistics, and returns the mean loss.
func (r *replica) gradients() float64 {
	loss := 0.0
	leaves := make([]shard.Node, len(r.grads))
	for s, grad := range r.grads {
		leaves[s] = shard.Node{Lo: s, Hi: s + 1}
		r.setInput(s)
		r.p.SetGradients(grad)
		r.p.Forward()
		r.p.Backward(nil)
		loss += r.p.Loss()
		for i, state := range r.v.States {
			at := r.v.StateSegments[i]
			values, m := r.v.StateOf(i), float32(state.Momentum)
			for j, batch := range r.p.BatchStats()[at.Offset : at.Offset+at.Len] {
				values[j] = (1-m)*values[j] + m*batch
			}
		}
	}
	sums, _ := shard.Reduce(leaves, len(leaves))
	for _, s := range sums {
		for i, g := range r.grads[s.From] {
			r.grads[s.Into][i] += g
		}
	}
	return loss / float64(r.c.Recipe.Batch)
}

// update is PyTorch's SGD or AdamW with the README's settings.
func (r *replica) update() {
	r.steps++
	updated := sgd(r.c.Recipe.rate())
	if r.c.Recipe.Optimizer == "adamw" {
		updated = adamW(r.c.Recipe.rate(), r.steps)
	}
	scale := 1 / float32(r.c.Recipe.Batch)
	for i, g := range r.grads[0] {
		r.v.Weights[i] = updated(r.v.Weights[i], g*scale, &r.first[i], &r.second[i])
	}
}

// updateRule returns a weight after a step with gradient g, and moves its moments.
type updateRule func(w, g float32, first, second *float32) float32

func sgd(lr float64) updateRule {
	const momentum, decay = 0.9, 1e-4
	return func(w, g float32, first, _ *float32) float32 {
		*first = momentum**first + g + decay*w
		return w - float32(lr)**first
	}
}

func adamW(lr float64, step int) updateRule {
	const beta1, beta2, eps, decay = 0.9, 0.999, 1e-8, 0.01
	m0, v0 := 1-math.Pow(beta1, float64(step)), 1-math.Pow(beta2, float64(step))
	return func(w, g float32, first, second *float32) float32 {
		*first = beta1**first + (1-beta1)*g
		*second = beta2**second + (1-beta2)*g*g
		m, v := float64(*first)/m0, float64(*second)/v0
		return w*float32(1-lr*decay) - float32(lr*m/(math.Sqrt(v)+eps))
	}
}

// canonical returns parameter p's part of a flat vector in PyTorch's order.
func (r *replica) canonical(p int, flat []float32) []float32 {
	values := make([]float32, r.v.Segments[p].Len)
	r.v.Canonical(p, values, flat)
	return values
}

// checkGradients compares the mean gradient with the first step's.
func (r *replica) checkGradients(t *testing.T, rounding float64) {
	largest := r.c.Float64.largestGradient()
	scale := 1 / float64(r.c.Recipe.Batch)
	tolerance := rounding * (1e-4 + 3*r.c.gradientRounding(largest))
	for p, param := range r.v.Params {
		want, ok := r.c.Float64.Gradients[param.Name]
		if !ok {
			t.Errorf("parameter %s is not PyTorch's", param.Name)
			continue
		}
		values := r.canonical(p, r.grads[0])
		bound := tolerance*want.L2 + rounding*1e-6*largest
		if got := l2(values) * scale; !(math.Abs(got-want.L2) <= bound) {
			t.Errorf("gradient of %s: L2 %.9g, want %.9g +- %.2g", param.Name, got, want.L2, bound)
		}
		for k, i := range want.Index {
			if got := float64(values[i]) * scale; !(math.Abs(got-want.Value[k]) <= bound) {
				t.Errorf("gradient of %s[%d]: %.9g, want %.9g +- %.2g",
					param.Name, i, got, want.Value[k], bound)
			}
		}
	}
	if len(r.v.Params) != len(r.c.Float64.Gradients) {
		t.Errorf("%d parameters, want %d", len(r.v.Params), len(r.c.Float64.Gradients))
	}
}

// gradientRounding returns the largest distance between the columns' first gradients, relative to
// the norm: 4e-3 in resnet50, where batch norm over few values amplifies it from layer to layer, and
// below 1e-6 elsewhere. Gradients that are nothing but rounding are left out.
func (c *parityCase) gradientRounding(largest float64) float64 {
	distance := 0.0
	for name, g := range c.Float64.Gradients {
		if g.L2 < 1e-4*largest {
			continue
		}
		narrow := c.Float32.Gradients[name]
		distance = max(distance, math.Abs(narrow.L2-g.L2)/g.L2)
		for k, value := range g.Value {
			distance = max(distance, math.Abs(narrow.Value[k]-value)/g.L2)
		}
	}
	return distance
}

func l2(values []float32) float64 {
	sum := 0.0
	for _, x := range values {
		sum += float64(x) * float64(x)
	}
	return math.Sqrt(sum)
}
