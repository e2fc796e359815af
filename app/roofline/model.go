package roofline

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lockstep/app/evidence/compare"
	"lockstep/app/evidence/stat"
	"lockstep/app/host"
	"lockstep/graph"
	"lockstep/internal/kernel/peak"
	"lockstep/model"
	"lockstep/optim"
	"lockstep/random"
	"lockstep/tensor"
)

// warmSteps are taken before any is timed: they fault the memory in and fill the caches.
const warmSteps = 2

// step is a training step of the model, ready to run.
type step struct {
	program   *graph.Program
	variables *graph.Variables
	gradient  []float32
	optimizer optim.Optimizer
	times     []time.Duration // of the ops of a profiled step
}

// rate is the learning rate: small, so that weights stay what they were.
const rate = 1e-4

// newStep compiles the model for one batch of generated images.
func (r *run) newStep() (*step, error) {
	p, network, err := r.config.compile(r.host, false)
	if err != nil {
		return nil, err
	}
	if err := fits(p.ArenaBytes()); err != nil {
		p.Close()
		return nil, err
	}
	v := graph.NewVariables(p)
	v.Initialize(1)
	s := &step{program: p, variables: v, gradient: v.NewGradient(),
		times: make([]time.Duration, len(p.Cost()))}
	s.optimizer, err = optim.New(optim.Config{Name: "sgd", LR: rate, Momentum: 0.9}, r.cpu, v.Weights, nil)
	if err == nil {
		err = p.Attach(v)
	}
	if err != nil {
		p.Close()
		return nil, fmt.Errorf("roofline: %w", err)
	}
	p.SetGradients(s.gradient)
	generate(p, network, r.config.Batch)
	return s, nil
}

// compile compiles the model for one batch of samples. If isKept, weights and gradients lie in the executor's
// memory.
func (c Config) compile(ex graph.Executor, isKept bool) (*graph.Program, model.Network, error) {
	input := tensor.Shape{c.Size, c.Size, 3}
	if c.ReadsTexts() {
		input = tensor.Shape{c.Sequence}
	}
	var network model.Network
	if err := fits(int64(c.Batch) * int64(input.Elems()) * 4); err != nil {
		return nil, network, err
	}
	network, err := c.Models.Named(c.Model, 10, input)
	if err != nil {
		return nil, network, fmt.Errorf("roofline: %w", err)
	}
	g := graph.New()
	samples := network.Samples(g, c.Batch)
	labels := g.Labels("labels", c.Batch)
	logits := network.Build(samples)
	p, err := graph.Compile(g, ex, graph.Options{
		Loss: graph.SoftmaxCrossEntropy(logits, labels), Logits: logits, Train: true, Kept: isKept})
	if err != nil {
		return nil, network, fmt.Errorf("roofline: compile %s for %d samples: %w", c.Model, c.Batch, err)
	}
	return p, network, nil
}

// ErrMemory is the error of a step that needs more memory than the machine has.
var ErrMemory = errors.New("not enough memory")

// fits returns ErrMemory if the machine has less than bytes, which take no memory before they are written.
func fits(bytes int64) error {
	machine := host.MemoryBytes()
	if machine == 0 || uint64(bytes) <= machine {
		return nil
	}
	const gib = 1 << 30
	return fmt.Errorf("roofline: %w: a step needs %.1f GiB or more, this machine has %.1f GiB", ErrMemory,
		float64(bytes)/gib, float64(machine)/gib)
}

// generate gives a program random images, or random texts of the greatest length.
func generate(p *graph.Program, n model.Network, batch int) {
	labels, numbers := make([]int32, batch), make([]int32, batch)
	for i := range labels {
		labels[i], numbers[i] = int32(i%n.Classes), int32(i)
	}
	p.SetDraws(graph.Draws{Seed: 1, Samples: numbers})
	p.Input("labels").SetInts(labels)
	if !n.ReadsTexts() {
		images := p.Input(model.Images).Floats()
		for i := range images {
			images[i] = random.Stream(1).Symmetric(uint64(i), 1)
		}
		return
	}
	tokens, lengths := make([]int32, batch*n.Input[0]), make([]int32, batch)
	for i := range tokens {
		tokens[i] = int32(random.Stream(1).Intn(uint64(i), n.Words))
	}
	for i := range lengths {
		lengths[i] = int32(n.Input[0])
	}
	p.Input(model.Texts).SetTexts(tokens, lengths)
}

func (s *step) update() {
	s.optimizer.Step(0, len(s.variables.Weights), s.gradient, rate, 1/float32(s.program.Samples()))
}

// plain runs a step as training does and returns how long it took.
func (s *step) plain() time.Duration {
	begin := time.Now()
	s.program.Forward()
	s.program.Backward(nil)
	s.update()
	return time.Since(begin)
}

// profiled runs a step that fills times, and returns how long the update took.
func (s *step) profiled() time.Duration {
	s.program.Profile(s.times)
	begin := time.Now()
	s.update()
	return time.Since(begin)
}

// model times every op of a training step. It alternates steps without timers, steps with timers and the
// measurement of the peak, so that all run under the same conditions.
func (r *run) model() error {
	s, err := r.newStep()
	if err != nil {
		return err
	}
	defer s.program.Close()
	k := &r.kernels
	k.Layers = timings(s.program.Cost(), s.variables.Count())
	begun, all := time.Now(), warmSteps+r.config.Repeats
	for i := range all {
		if err := r.tell(r.config.Model, i, all, begun); err != nil {
			return err
		}
		whole := s.plain()
		if r.ctx.Err() != nil { // a step may take seconds
			return r.ctx.Err()
		}
		update, limit := s.profiled(), peak.FLOPs(r.cpu)
		if i < warmSteps {
			continue
		}
		k.StepSeconds = append(k.StepSeconds, seconds(whole))
		k.PeakSamples = append(k.PeakSamples, limit)
		if r.cpu.Math().Parts() > 0 {
			k.PartsSamples = append(k.PartsSamples, peak.Products(r.cpu))
		}
		for j, d := range append(s.times, update) {
			k.Layers[j].Seconds = append(k.Layers[j].Seconds, seconds(d))
		}
	}
	k.PeakFLOPs = stat.Median(k.PeakSamples)
	if len(k.PartsSamples) > 0 {
		k.PartsFLOPs = stat.Median(k.PartsSamples)
	}
	for i := range k.Layers {
		k.Rate(&k.Layers[i])
	}
	return nil
}

// timings lists ops, and the update of so many parameters last, without samples.
func timings(ops []graph.OpCost, parameters int) []compare.Timing {
	var list []compare.Timing
	for _, c := range ops {
		list = append(list, compare.Timing{Op: c.Op, Kind: kindOf(c), Layer: c.Layer,
			Shape: shapeOf(c), OfParts: c.OfParts, FLOPs: c.FLOPs, Bytes: c.Bytes})
	}
	// Three multiplications and additions and, besides the gradient, weights and velocity read and written.
	n := int64(parameters)
	return append(list, compare.Timing{Op: "sgd", Kind: "sgd", Shape: fmt.Sprint(n), FLOPs: 6 * n,
		Bytes: 20 * n})
}

// kindOf returns the op, with the size of the filter for a convolution: "conv 3x3". The filter is the
// second operand, or the result if that is the gradient of the weights.
func kindOf(c graph.OpCost) string {
	if !strings.HasPrefix(c.Op, "conv") || c.Op == "convert" {
		return c.Op
	}
	filter := c.In[1]
	if strings.HasSuffix(c.Op, "-backward-weights") {
		filter = c.Out[0]
	}
	return fmt.Sprintf("%s %dx%d", c.Op, filter.Shape[0], filter.Shape[1])
}

// shapeOf formats the input shapes of an op that have more than one axis, then its output shape:
// "64x8x8x128 3x3x128x256 > 64x8x8x256".
func shapeOf(c graph.OpCost) string {
	var parts []string
	for _, t := range c.In {
		if text := axes(t.Shape); len(t.Shape) > 1 && !slices.Contains(parts, text) {
			parts = append(parts, text)
		}
	}
	return strings.TrimSpace(strings.Join(parts, " ") + " > " + axes(c.Out[0].Shape))
}

func axes(s tensor.Shape) string {
	return strings.ReplaceAll(strings.Trim(s.String(), "[]"), ", ", "x")
}
