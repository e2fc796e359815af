package train_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lockstep/compute"
	"lockstep/data"
	"lockstep/model"
	"lockstep/optim"
	"lockstep/random"
	"lockstep/tensor"
	"lockstep/train"
)

// numWords is the size of the vocabulary: large ones cost memory and hashing, and test nothing more.
const numWords = 300

// texts returns n texts of 1 to most random words in two classes.
func texts(n, most int, stream random.Stream) *data.Set {
	s := &data.Set{Name: "texts", Classes: []string{"0", "1"}, Shape: tensor.Shape{most},
		Texts: &data.Texts{Vocabulary: numWords}}
	for i := range uint64(n) {
		for range 1 + stream.Intn(i, most) {
			word := stream.Intn(uint64(len(s.Texts.Tokens))+1<<32, numWords)
			s.Texts.Tokens = append(s.Texts.Tokens, int32(word))
		}
		s.Texts.Ends = append(s.Texts.Ends, len(s.Texts.Tokens))
		s.Labels = append(s.Labels, uint8(stream.Intn(i+1<<33, 2)))
	}
	return s
}

// BERT with dropout, AdamW, texts of different lengths and uneven shards has the same result for
// any number of workers and threads.
func TestOneHashForTexts(t *testing.T) {
	c := train.Config{
		Train: texts(23, 40, 1), Test: texts(9, 40, 2),
		Batch: 10, Plan: cut(t, 4, 1), Steps: 4, EvalBatch: 4, Seed: 5,
		Optimizer: optim.Config{Name: "adamw", LR: 1e-3, WeightDecay: 0.01},
	}
	var err error
	if c.Network, err = model.Named("bert-tiny", 2, tensor.Shape{40}); err != nil {
		t.Fatal(err)
	}
	c.Network = c.Network.WithWords(numWords)
	strange := c
	strange.CPU, strange.Train = &compute.CPU{}, texts(23, 40, 1)
	strange.Train.Texts.Vocabulary++
	if err := strange.Validate(); err == nil || !strings.Contains(err.Error(), "vocabulary of 301 tokens") {
		t.Errorf("too large a vocabulary: %v", err)
	}
	want := run(t, c, 1, 1, compute.Best())[0]
	for workers := 2; workers <= 4; workers++ {
		for _, strategy := range []string{"ddp", "gather-scatter"} {
			for rank, got := range exchangeRun(t, c, workers, 1+workers%2, strategy, "") {
				what := fmt.Sprintf("%s of %d workers, rank %d", strategy, workers, rank)
				compareOutcomes(t, what, got, want)
			}
		}
	}
}

// Linear layers by Strassen's algorithm pair tokens, across texts where their numbers are odd, from 384
// tokens of a shard on; these shards have some 700. The result is not that of exact math, and the same for
// any number of workers and threads.
func TestOneHashWhereTokensArePaired(t *testing.T) {
	if compute.Best() == compute.Plain {
		t.Skip("takes a minute without assembly")
	}
	c := train.Config{
		Train: texts(96, 60, 1), Test: texts(25, 60, 2),
		Batch: 48, Plan: cut(t, 2, 1), Steps: 2, EvalBatch: 25, Seed: 5,
		Optimizer: optim.Config{Name: "adamw", LR: 1e-3, WeightDecay: 0.01},
	}
	var err error
	if c.Network, err = model.Named("bert-mini", 2, tensor.Shape{60}); err != nil {
		t.Fatal(err)
	}
	c.Network = c.Network.WithWords(numWords)
	want := run(t, c, 1, 1, compute.Best())[0]
	for workers := 1; workers <= 2; workers++ {
		for rank, got := range exchangeRun(t, c, workers, 3-workers, "ddp", "") {
			compareOutcomes(t, fmt.Sprintf("%d workers, rank %d", workers, rank), got, want)
		}
	}
	if c.CPU, err = compute.Open(compute.Config{ISA: compute.Best(), Math: compute.Exact}); err != nil {
		t.Fatal(err)
	}
	defer c.CPU.Close()
	exact, err := train.New(c)
	if err != nil {
		t.Fatal(err)
	}
	defer exact.Close()
	var o outcome
	if o.Result, err = exact.Run(t.Context(), &o.diary); err != nil {
		t.Fatal(err)
	}
	if slices.Equal(o.losses(), want.losses()) {
		t.Error("no token was paired: the losses are those of exact math")
	}
}

// pairs returns n pairs of texts without separators. One token differs from the others; the label says
// whether it is in the second text. Its place alone tells 79 % of the labels, the split the others.
func pairs(n int, stream random.Stream) *data.Set {
	const length, marked = 8, 7
	s := &data.Set{Name: "pairs", Classes: []string{"first", "second"}, Shape: tensor.Shape{length},
		Texts: &data.Texts{Vocabulary: numWords}}
	for i := range uint64(n) {
		at, split := stream.Intn(2*i, length), 1+stream.Intn(2*i+1, length-1)
		text := make([]int32, length)
		text[at] = marked
		s.Texts.Tokens = append(s.Texts.Tokens, text...)
		s.Texts.Ends = append(s.Texts.Ends, len(s.Texts.Tokens))
		s.Texts.Splits = append(s.Texts.Splits, int32(split))
		label := uint8(0)
		if at >= split {
			label = 1
		}
		s.Labels = append(s.Labels, label)
	}
	return s
}

// BERT learns which of two texts a word is in, with the same result for one worker and two.
func TestPairsAreLearned(t *testing.T) {
	skipShort(t)
	c := train.Config{
		Train: pairs(640, 1), Test: pairs(128, 2),
		Batch: 32, Plan: cut(t, 2, 1), Epochs: 3, EvalBatch: 32, Seed: 5,
		Optimizer: optim.Config{Name: "adamw", LR: 1e-3, WeightDecay: 0.01},
	}
	var err error
	if c.Network, err = model.Named("bert-tiny", 2, tensor.Shape{8}); err != nil {
		t.Fatal(err)
	}
	c.Network = c.Network.WithWords(numWords)
	want := run(t, c, 1, 1, compute.Best())[0]
	if got := want.Test.Accuracy(); got < 0.95 {
		t.Errorf("accuracy %v, want at least 0.95", got)
	}
	for rank, got := range exchangeRun(t, c, 2, 2, "ddp", "") {
		compareOutcomes(t, fmt.Sprintf("rank %d of 2", rank), got, want)
	}
}
