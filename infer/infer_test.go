package infer_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lockstep/compute"
	"lockstep/data/table"
	"lockstep/data/wordpiece"
	"lockstep/graph"
	"lockstep/infer"
	"lockstep/internal/alloctest"
	"lockstep/model"
	"lockstep/tensor"
)

// words is a vocabulary for tests.
var words = []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "good", "bad", "film", "##s", "."}

// network returns a network for small samples.
func network(t *testing.T, name string) model.Network {
	t.Helper()
	input := tensor.Shape{32, 32, 3}
	if (model.Catalog{}).ReadsTexts(name) {
		input = tensor.Shape{16}
	}
	n, err := model.Named(name, 10, input)
	if err != nil {
		t.Fatal(err)
	}
	if n.ReadsTexts() {
		n = n.WithWords(len(words))
	}
	return n
}

// initialise gives every batch norm statistics of its own.
func initialise(v *graph.Variables) error {
	v.Initialize(3)
	for i := range v.State {
		v.State[i] += float32(i%7) / 16
	}
	return nil
}

// predictor opens a predictor that the test closes.
func predictor(t *testing.T, c infer.Config) *infer.Predictor {
	t.Helper()
	c.Load = initialise
	if c.Network.ReadsTexts() {
		var err error
		if c.Tokenizer, err = wordpiece.New(words); err != nil {
			t.Fatal(err)
		}
	} else {
		c.Mean, c.Std = []float32{0.4, 0.5, 0.6}, []float32{0.2, 0.25, 0.3}
	}
	p, err := infer.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// inputs returns n different ones for a network.
func inputs(n model.Network, count int) []infer.Input {
	list := make([]infer.Input, count)
	for i := range list {
		if n.ReadsTexts() {
			list[i].Text = strings.Repeat("a good film . ", 1+i%5) + words[4+i%6]
			if i%3 == 0 {
				list[i].Pair = "bad films"
			}
			continue
		}
		list[i].Pixels = make([]byte, n.Input.Elems())
		for j := range list[i].Pixels {
			list[i].Pixels[j] = byte(128 + 120*math.Sin(float64(j)/float64(3+i)+float64(i)))
		}
	}
	return list
}

// evaluation returns what computes the logits of one input by a program that evaluates as training does.
func evaluation(t *testing.T, n model.Network) func(infer.Input) []float32 {
	t.Helper()
	cpu, err := compute.Open(compute.Config{ISA: compute.Best()})
	if err != nil {
		t.Fatal(err)
	}
	g := graph.New()
	p, err := graph.Compile(g, graph.NewHost(cpu), graph.Options{Logits: n.Build(n.Samples(g, 1))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	v := graph.NewVariables(p)
	if err := errors.Join(initialise(v), p.Attach(v)); err != nil {
		t.Fatal(err)
	}
	return func(in infer.Input) []float32 {
		feed(t, p, n, in)
		p.Forward()
		return slices.Clone(p.Logits())
	}
}

// feed sets the input of a program of one sample.
func feed(t *testing.T, p *graph.Program, n model.Network, in infer.Input) {
	t.Helper()
	if n.ReadsTexts() {
		tokenizer, err := wordpiece.New(words)
		if err != nil {
			t.Fatal(err)
		}
		tokens, split := []int32(nil), 0
		if in.Pair == "" {
			tokens, _ = tokenizer.Encode(nil, in.Text, n.Input[0])
		} else {
			tokens, split, _ = tokenizer.EncodePair(nil, in.Text, in.Pair, n.Input[0])
		}
		p.Input(model.Texts).SetPairs(tokens, []int32{int32(len(tokens))}, []int32{int32(split)})
	} else {
		mean, std := []float32{0.4, 0.5, 0.6}, []float32{0.2, 0.25, 0.3}
		values := p.Input(model.Images).Floats()
		for i, b := range in.Pixels {
			values[i] = (float32(b)/255 - mean[i%3]) / std[i%3]
		}
	}
}

// near compares logits as the package promises.
func near(got, want []float32) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d logits, want %d", len(got), len(want))
	}
	most := 0.0
	for _, x := range want {
		most = max(most, math.Abs(float64(x)))
	}
	for i := range want {
		if d := math.Abs(float64(got[i] - want[i])); !(d <= 1e-5*most) {
			return fmt.Errorf("logit %d is %v, want %v (of at most %v)", i, got[i], want[i], most)
		}
	}
	return nil
}

// The logits are those of an evaluation, whatever the size of the call and of the batch.
func TestPredictAsEvaluation(t *testing.T) {
	for _, name := range []string{"lenet", "vgg11", "resnet20", "bert-tiny"} {
		n := network(t, name)
		p, all := predictor(t, infer.Config{Network: n, Batch: 6, Threads: 2}), inputs(n, 9)
		evaluated := evaluation(t, n)
		got, err := p.Predict(t.Context(), all, []float32{7}) // more than a batch
		if err != nil || got[0] != 7 {
			t.Fatalf("%s: %v, begins with %v", name, err, got[:1])
		}
		for i, in := range all {
			want := evaluated(in)
			if err := near(got[1+10*i:][:10], want); err != nil {
				t.Errorf("%s: sample %d: %v", name, i, err)
			}
			alone, err := p.Predict(t.Context(), all[i:i+1], nil)
			if err == nil {
				err = near(alone, want)
			}
			if err != nil {
				t.Errorf("%s: sample %d alone: %v", name, i, err)
			}
		}
	}
}

// Callers that wait are computed together, and each gets its own logits; some give up meanwhile.
func TestPredictByManyCallers(t *testing.T) {
	n := network(t, "lenet")
	p := predictor(t, infer.Config{Network: n, Batch: 8, Wait: time.Millisecond})
	all := inputs(n, 12)
	want, err := p.Predict(t.Context(), all, nil)
	if err != nil {
		t.Fatal(err)
	}
	var callers sync.WaitGroup
	for c := range 16 {
		callers.Go(func() {
			for round := range 10 {
				first := (c + round) % 12
				end := min(12, first+1+round%5)
				ctx, cancel := context.WithCancel(t.Context())
				if c%4 == 3 {
					go cancel()
				}
				got, err := p.Predict(ctx, all[first:end], nil)
				if err == nil {
					err = near(got, want[10*first:10*end])
				} else if c%4 == 3 && errors.Is(err, context.Canceled) {
					err = nil
				}
				cancel()
				if err != nil {
					t.Errorf("caller %d, round %d: %v", c, round, err)
				}
			}
		})
	}
	callers.Wait()
}

func TestPredictAllocatesNothing(t *testing.T) {
	for _, name := range []string{"lenet", "bert-tiny"} {
		n := network(t, name)
		p, all := predictor(t, infer.Config{Network: n, Batch: 4}), inputs(n, 3)
		to := make([]float32, 0, 30)
		calls := func() {
			if _, err := p.Predict(t.Context(), all, to); err != nil {
				t.Fatal(err)
			}
		}
		if count := alloctest.Least(20, calls); count != 0 {
			t.Errorf("%s: %d allocations in 20 calls", name, count)
		}
	}
}

func TestPredictErrors(t *testing.T) {
	images, texts := network(t, "lenet"), network(t, "bert-tiny")
	p, q := predictor(t, infer.Config{Network: images}), predictor(t, infer.Config{Network: texts})
	good := inputs(images, 1)[0]
	for want, c := range map[string]struct {
		p  *infer.Predictor
		in infer.Input
	}{
		"input 2: no image":                  {p, infer.Input{}},
		"input 2: no image, want one":        {p, infer.Input{Text: "a"}},
		"input 2: 3 values of an image, w":   {p, infer.Input{Pixels: []byte{1, 2, 3}}},
		"input 2: 1 values of an image, w":   {p, infer.Input{Values: []float32{1}}},
		"input 2: both bytes":                {p, infer.Input{Pixels: good.Pixels, Values: []float32{1}}},
		"input 2: an image, want a text":     {q, good},
		"input 2: 17 tokens, want 1 to 16":   {q, infer.Input{Tokens: make([]int32, 17)}},
		"input 2: token 1 is number 10":      {q, infer.Input{Tokens: []int32{2, 10}}},
		"input 2: the second text begins at": {q, infer.Input{Tokens: []int32{2}, Split: 1}},
	} {
		first := good
		if c.p == q {
			first = infer.Input{Text: "a film"}
		}
		_, err := c.p.Predict(t.Context(), []infer.Input{first, c.in}, nil)
		if bad := (*infer.InputError)(nil); !errors.As(err, &bad) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	values := make([]float32, images.Input.Elems())
	values[7] = float32(math.NaN())
	_, err := p.Predict(t.Context(), []infer.Input{good, {Values: values}}, nil)
	if bad := (*infer.NotFiniteError)(nil); !errors.As(err, &bad) || bad.Number != 1 {
		t.Errorf("error %v, want a *NotFiniteError of input 1", err)
	}
	p.Close()
	if _, err := p.Predict(t.Context(), []infer.Input{good}, nil); !errors.Is(err, infer.ErrClosed) {
		t.Errorf("error %v after Close", err)
	}
	for want, c := range map[string]infer.Config{
		"batches of -1":         {Network: images, Batch: -1},
		"2 classes are named":   {Network: images, Classes: []string{"a", "b"}},
		"1 means and 0 deviati": {Network: images, Mean: []float32{1}},
		"no such weights":       {Network: images},
		"0 means and deviation": {Network: images, Table: &table.Table{Columns: []table.Column{{Name: "x",
			IsNumber: true}}}},
	} {
		c.Load = func(*graph.Variables) error { return errors.New("no such weights") }
		if _, err := infer.New(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// Callers who leave before their inputs are in a batch are not counted as one.
func TestBatchesHaveInputs(t *testing.T) {
	n := network(t, "lenet")
	p, all := predictor(t, infer.Config{Network: n, Batch: 2}), inputs(n, 1)
	gone, leave := context.WithCancel(t.Context())
	leave()
	for range 50 {
		if _, err := p.Predict(gone, all, nil); err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	if _, err := p.Predict(t.Context(), all, nil); err != nil {
		t.Fatal(err)
	}
	if batches, inputs := p.Counts(); batches > inputs || inputs < 1 {
		t.Errorf("%d batches of %d inputs", batches, inputs)
	}
}

// Close waits for the calls in progress.
func TestCloseLosesNoCall(t *testing.T) {
	n := network(t, "lenet")
	p := predictor(t, infer.Config{Network: n, Batch: 2})
	var callers sync.WaitGroup
	answered, refused := 0, 0
	var mu sync.Mutex
	for range 8 {
		callers.Go(func() {
			for range 5 {
				got, err := p.Predict(context.Background(), inputs(n, 1), nil)
				mu.Lock()
				switch {
				case errors.Is(err, infer.ErrClosed):
					refused++
				case err != nil || len(got) != 10:
					t.Errorf("%d logits, %v", len(got), err)
				default:
					if answered++; answered == 5 {
						go p.Close()
					}
				}
				mu.Unlock()
			}
		})
	}
	callers.Wait()
	if answered < 5 || answered+refused != 40 {
		t.Errorf("%d answered, %d refused", answered, refused)
	}
}

func TestRank(t *testing.T) {
	n := network(t, "lenet")
	p := predictor(t, infer.Config{Network: n})
	logits := []float32{0, 2, 1, 2, -1, 0, 0, 0, 0, 0}
	top := p.Rank(logits, 3, nil)
	if len(top) != 3 || top[0].Label != "1" || top[1].Label != "3" || top[2].Label != "2" ||
		top[0].Probability != top[1].Probability {
		t.Errorf("top 3 of %v: %v", logits, top)
	}
	sum := 0.0
	for _, c := range p.Rank(logits, 99, nil) {
		sum += c.Probability
	}
	if math.Abs(sum-1) > 1e-12 {
		t.Errorf("probabilities add up to %v", sum)
	}
}
