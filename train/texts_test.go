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
		s.Labels = append(s.Labels, int32(stream.Intn(i+1<<33, 2)))
	}
	return s
}

// onTexts trains a BERT on texts of two classes with AdamW.
func onTexts(t *testing.T, name string, training, test *data.Set) train.Config {
	t.Helper()
	network, err := model.Named(name, 2, training.Shape)
	if err != nil {
		t.Fatal(err)
	}
	return train.Config{Network: network.WithWords(numWords), Train: training, Test: test, Seed: 5,
		Optimizer: optim.Config{Name: "adamw", LR: 1e-3, WeightDecay: 0.01}}
}

// BERT with dropout, AdamW, texts of different lengths and uneven shards has the same result for
// any number of workers and threads.
func TestOneHashForTexts(t *testing.T) {
	c := onTexts(t, "bert-tiny", texts(23, 40, 1), texts(9, 40, 2))
	c.Batch, c.Plan, c.Steps, c.EvalBatch = 10, cut(t, 4, 1), 4, 4
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
	c := onTexts(t, "bert-mini", texts(96, 60, 1), texts(25, 60, 2))
	c.Batch, c.Plan, c.Steps, c.EvalBatch = 48, cut(t, 2, 1), 2, 25
	want := run(t, c, 1, 1, compute.Best())[0]
	for workers := 1; workers <= 2; workers++ {
		for rank, got := range exchangeRun(t, c, workers, 3-workers, "ddp", "") {
			compareOutcomes(t, fmt.Sprintf("%d workers, rank %d", workers, rank), got, want)
		}
	}
	var err error
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
		label := int32(0)
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
	c := onTexts(t, "bert-tiny", pairs(640, 1), pairs(128, 2))
	c.Batch, c.Plan, c.Epochs, c.EvalBatch = 32, cut(t, 2, 1), 3, 32
	want := run(t, c, 1, 1, compute.Best())[0]
	if got := want.Test.Accuracy(); got < 0.95 {
		t.Errorf("accuracy %v, want at least 0.95", got)
	}
	for rank, got := range exchangeRun(t, c, 2, 2, "ddp", "") {
		compareOutcomes(t, fmt.Sprintf("rank %d of 2", rank), got, want)
	}
}
