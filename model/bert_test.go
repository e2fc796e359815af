package model_test

import (
	"fmt"
	"slices"
	"testing"

	"lockstep/compute"
	"lockstep/graph"
	"lockstep/internal/alloctest"
	"lockstep/model"
	"lockstep/random"
	"lockstep/tensor"
)

// reader is a model that reads texts, with one set of texts, for training with dropout.
type reader struct {
	*graph.Program
	v                       *graph.Variables
	tokens, lengths, labels []int32
	samples                 []int32
}

// newReader compiles a model for the given texts, each of at most most tokens; sample i is text number
// samples[i] of an endless set.
func newReader(t testing.TB, name string, samples []int32, most int, c compute.Config) *reader {
	t.Helper()
	net, err := model.Named(name, 2, tensor.Shape{most})
	if err != nil {
		t.Fatal(err)
	}
	cpu, err := compute.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cpu.Close)
	g := graph.New()
	logits := net.Build(net.Samples(g, len(samples)))
	loss := graph.SoftmaxCrossEntropy(logits, g.Labels("labels", len(samples)))
	p, err := graph.Compile(g, graph.NewHost(cpu), graph.Options{Loss: loss, Logits: logits, Train: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	r := &reader{Program: p, v: graph.NewVariables(p), samples: samples}
	r.v.Initialize(1)
	if err := p.Attach(r.v); err != nil {
		t.Fatal(err)
	}
	return r
}

// read gives the program texts of lengths from least to most.
func (r *reader) read(least, most int) {
	for _, n := range r.samples {
		s := random.Derive(7, uint64(n))
		length := least + s.Intn(0, most-least+1)
		for j := range length {
			r.tokens = append(r.tokens, int32(s.Intn(uint64(j+1), 30522)))
		}
		r.lengths = append(r.lengths, int32(length))
		r.labels = append(r.labels, n%2)
	}
	r.Input("texts").SetTexts(r.tokens, r.lengths)
	r.Input("labels").SetInts(r.labels)
	r.SetDraws(graph.Draws{Seed: 3, Step: 5, Samples: r.samples})
}

// step runs once and returns logits and gradient.
func (r *reader) step() (logits, gradient []float32) {
	gradient = r.v.NewGradient()
	r.SetGradients(gradient)
	r.Forward()
	r.Backward(nil)
	return slices.Clone(r.Logits()), gradient
}

// With dropout, a step gives the same bits for any number of threads and whatever the texts' longest
// length may be; and a text's logits do not depend on which texts are with it.
func TestBertIsExact(t *testing.T) {
	samples := []int32{4, 900, 17, 3, 8}
	all := compute.Supported()
	for _, isa := range all[min(1, len(all)-1):] { // plain Go takes many times as long
		r := newReader(t, "bert-tiny", samples, 40, compute.Config{ISA: isa})
		r.read(1, 40)
		logits, gradient := r.step()
		for _, other := range []struct{ most, threads int }{{40, 2}, {40, 3}, {128, 2}} {
			s := newReader(t, "bert-tiny", samples, other.most,
				compute.Config{ISA: isa, Threads: other.threads})
			s.read(1, 40)
			l, g := s.step()
			if !slices.Equal(l, logits) || !slices.Equal(g, gradient) {
				t.Errorf("%v: %d threads, texts of at most %d tokens: other bits",
					isa, other.threads, other.most)
			}
		}
		part := newReader(t, "bert-tiny", samples[1:3], 40, compute.Config{ISA: isa})
		part.read(1, 40)
		if l, _ := part.step(); !slices.Equal(l, logits[2:6]) {
			t.Errorf("%v: two of the texts by themselves have logits %v, want %v", isa, l, logits[2:6])
		}
		if n := alloctest.Least(2, func() { r.Forward(); r.Backward(nil) }); n != 0 {
			t.Errorf("%v: %v allocations a step, want 0", isa, n)
		}
	}
}

// Draws decide about dropout, and nothing but draws.
func TestBertDropoutFollowsDraws(t *testing.T) {
	samples := []int32{1, 2}
	r := newReader(t, "bert-tiny", samples, 16, compute.Config{ISA: compute.Best()})
	r.read(8, 16)
	first, _ := r.step()
	if again, _ := r.step(); !slices.Equal(first, again) {
		t.Errorf("the same step gives %v, then %v", first, again)
	}
	for _, d := range []graph.Draws{
		{Seed: 4, Step: 5, Samples: samples}, {Seed: 3, Step: 6, Samples: samples},
		{Seed: 3, Step: 5, Samples: []int32{1, 3}},
	} {
		r.SetDraws(d)
		if other, _ := r.step(); other[3] == first[3] {
			t.Errorf("draws %+v change nothing: %v", d, other)
		}
	}
}

// BenchmarkBert times forward and backward of a batch of full texts, with dropout.
func BenchmarkBert(b *testing.B) {
	for _, c := range []struct {
		name        string
		batch, most int
	}{{"bert-mini", 32, 128}, {"bert-base", 8, 128}} {
		for threads := 1; threads <= 2; threads++ {
			b.Run(fmt.Sprintf("%s/%dx%d/%d", c.name, c.batch, c.most, threads), func(b *testing.B) {
				samples := make([]int32, c.batch)
				for i := range samples {
					samples[i] = int32(i)
				}
				r := newReader(b, c.name, samples, c.most,
					compute.Config{ISA: compute.Best(), Threads: threads})
				r.read(c.most, c.most)
				r.SetGradients(r.v.NewGradient())
				for b.Loop() {
					r.Forward()
					r.Backward(nil)
				}
			})
		}
	}
}
