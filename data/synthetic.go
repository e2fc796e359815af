package data

import (
	"context"
	"encoding/binary"
	"fmt"
	"strconv"

	"lockstep/random"
	"lockstep/tensor"
)

// syntheticBytes bounds the default size of a synthetic training set.
const syntheticBytes = 64 << 20

func syntheticSource() source {
	return source{
		Info: Info{Name: "synthetic", Generated: true,
			Text: "random input of the model's shape, for timing only"},
		kind:     AnyKind,
		generate: generateSynthetic,
	}
}

// generateSynthetic draws every pixel and label at random: there is nothing to learn.
func generateSynthetic(_ context.Context, o Options) (train, test *Set, err error) {
	shape := o.Shape
	if shape == nil {
		shape = tensor.Shape{32, 32, 3}
	}
	classes := o.NumClasses
	if classes == 0 {
		classes = 10
	}
	if len(shape) == 1 {
		return syntheticTexts(o, classes)
	}
	elems := shape.Elems()
	if len(shape) != 3 || elems <= 0 || shape[2] > maxChannels || classes < 1 || classes > maxClasses {
		return nil, nil, fmt.Errorf("data: synthetic: shape %v and %d classes, "+
			"want [H, W, C] with C <= %d and 1 to %d", shape, classes, maxChannels, maxClasses)
	}
	size := sizeOr(o.TrainSize, min(2048, max(1, syntheticBytes/elems)))
	sizes := o.sizes(size, max(1, size/8))
	names := make([]string, classes)
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	make1 := func(n int, part uint64) *Set {
		s := &Set{
			Name: "synthetic", Shape: shape.Clone(), Classes: names,
			Pixels: make([]byte, n*elems), Labels: make([]int32, n),
			Mean: make([]float32, shape[2]), Std: make([]float32, shape[2]),
			Generated: true, Source: fmt.Sprintf("random bytes, seed %d", o.Seed),
		}
		for c := range s.Mean {
			s.Mean[c], s.Std[c] = 0.5, 0.2887 // of the uniform distribution: 1/2, 1/sqrt(12)
		}
		fillRandom(s.Pixels, random.Derive(o.Seed, purposeSynthetic, part, 0))
		labels := random.Derive(o.Seed, purposeSynthetic, part, 1)
		for i := range s.Labels {
			s.Labels[i] = int32(labels.Intn(uint64(i), classes))
		}
		return s
	}
	return make1(sizes[0], 0), make1(sizes[1], 1), nil
}

// syntheticWords is the size of BERT's vocabulary.
const syntheticWords = 30522

// syntheticTexts draws texts of o.Shape[0] tokens each.
func syntheticTexts(o Options, classes int) (train, test *Set, err error) {
	most := o.Shape[0]
	if most < 1 || classes < 1 || classes > maxClasses {
		return nil, nil, fmt.Errorf("data: synthetic: texts of %d tokens in %d classes, "+
			"want at least 1 and 1 to %d", most, classes, maxClasses)
	}
	make1 := func(n int, part uint64) *Set {
		s := &Set{
			Name: "synthetic", Shape: o.Shape.Clone(), Labels: make([]int32, n), Generated: true,
			Source: fmt.Sprintf("random tokens, seed %d", o.Seed),
			Texts:  &Texts{Tokens: make([]int32, n*most), Vocabulary: syntheticWords},
		}
		for i := range classes {
			s.Classes = append(s.Classes, strconv.Itoa(i))
		}
		words := random.Derive(o.Seed, purposeSynthetic, part, 0)
		for i := range s.Texts.Tokens {
			s.Texts.Tokens[i] = int32(words.Intn(uint64(i), syntheticWords))
		}
		labels := random.Derive(o.Seed, purposeSynthetic, part, 1)
		for i := range s.Labels {
			s.Labels[i] = int32(labels.Intn(uint64(i), classes))
			s.Texts.Ends = append(s.Texts.Ends, (i+1)*most)
		}
		return s
	}
	size := sizeOr(o.TrainSize, 2048)
	sizes := o.sizes(size, size/8)
	return make1(sizes[0], 0), make1(sizes[1], 1), nil
}

// fillRandom fills dst with the words of a stream, little-endian.
func fillRandom(dst []byte, s random.Stream) {
	i := uint64(0)
	for ; len(dst) >= 8; dst = dst[8:] {
		binary.LittleEndian.PutUint64(dst, s.Word(i))
		i++
	}
	for j := range dst {
		dst[j] = byte(s.Word(i) >> (8 * j))
	}
}

// sizes returns how many samples of each part to generate for a set with the default sizes train
// and test.
func (o Options) sizes(train, test int) [2]int {
	return [2]int{atMost(o.MaxTrain, sizeOr(o.TrainSize, train)), atMost(o.MaxTest, sizeOr(o.TestSize, test))}
}

// atMost returns n, or limit if that is positive and less.
func atMost(limit, n int) int {
	if limit > 0 {
		return min(limit, n)
	}
	return n
}

func sizeOr(n, otherwise int) int {
	if n > 0 {
		return n
	}
	return otherwise
}
