package worker

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"lockstep/app/job/input"
	"lockstep/app/setting"
	"lockstep/app/strategy"
	"lockstep/checkpoint"
	"lockstep/cluster"
	"lockstep/compute"
	"lockstep/data"
	"lockstep/tensor"
	"lockstep/train"
)

// Sampled says what the data set is that [Sample] has taken batches from.
type Sampled struct {
	Classes, Samples int
	Batches          int // that were written
	Generated        bool
	Dropout          float64 // of a network for texts
}

// Batches says how many batches [Sample] writes.
type Batches struct {
	Least int   // however large they are
	Bytes int64 // that they may have beyond those
}

// Sample writes a safetensors file with what another program needs to begin the run that c describes: the
// initial weights, under the names of PyTorch, and the first batches. Images are normalised and augmented, as
// batch.K.images [N, C, H, W] and batch.K.labels [N], K from 0. Texts are batch.K.tokens [N, T], zeros after
// the end of each, batch.K.lengths [N] and, if there are pairs, batch.K.kinds [N, T], 1 in second parts. The
// batches are whole: c's workers and shards take no part. Errors of data are those of [Run].
//
// The batches are those of all steps, and at least so many as b.Least. If they have more than b.Bytes, only
// the first are written, of whole epochs if they are more than one.
func Sample(ctx context.Context, c setting.Config, e cluster.Environment, b Batches, path string) (
	Sampled, error) {
	if e == nil {
		e = cluster.ProcessEnvironment()
	}
	c.Workers, c.Shards, c.Strategy, c.Link = 1, 1, strategy.Single, "local"
	c.Threads, c.Device, c.Math = 1, setting.DeviceCPU, compute.Fast.String() // nothing is multiplied
	c = c.Complete()
	start, err := input.Open(c, func(string) {})
	if err != nil {
		return Sampled{}, err
	}
	if _, err := c.Datasets().Fetch(ctx, c.Data, c.DataOptions(e)); err != nil {
		return Sampled{}, err
	}
	t, err := input.Load(ctx, c, c.DataOptions(e), start)
	if err != nil {
		return Sampled{}, err
	}
	if set := t.Train; set.Weights != nil || set.NumTargets > 0 {
		return Sampled{}, setting.Refuse("another program knows neither --task regression nor weights of " +
			"samples or classes")
	}
	batches, err := firstBatches(c, t, b)
	if err != nil {
		return Sampled{}, err
	}
	about := Sampled{Classes: len(t.Train.Classes), Samples: t.Train.Len(), Batches: len(batches),
		Generated: t.Train.Generated, Dropout: t.Network.Dropout()}
	return about, Bare(c, t, 0, nil, nil, func(l *train.Loop) error {
		weights := checkpoint.Weights(l.Variables(), 0, nil).Entries
		_, err := checkpoint.Write(path, slices.Concat(weights, slices.Concat(batches...)), nil)
		return err
	})
}

// firstBatches returns the samples and labels of the first steps.
func firstBatches(c setting.Config, t input.Task, b Batches) (batches [][]checkpoint.Entry, err error) {
	steps, epoch := max(b.Least, c.NumSteps(t.Train.Len())), c.StepsPerEpoch(t.Train.Len())
	l, err := data.NewLoader(data.LoaderConfig{Set: t.Train, Batch: c.Batch, Shards: 1, Hi: 1, Seed: c.Seed,
		Augment: t.Augment, ToStep: steps, ByBlock: c.ShufflesBlocks() && t.Train.Texts == nil})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	for k := range steps {
		step, err := l.Next()
		if err != nil {
			return nil, fmt.Errorf("batch %d: %w", k, err)
		}
		batch := batchOf(k, step.Shards[0], t.Train)
		if b.Bytes -= bytesOf(batch); k >= b.Least && b.Bytes < 0 {
			if k > epoch {
				k -= k % epoch
			}
			return batches[:k], nil
		}
		batches = append(batches, batch)
	}
	return batches, nil
}

// bytesOf returns the size of the tensors of a batch.
func bytesOf(batch []checkpoint.Entry) (bytes int64) {
	for _, e := range batch {
		size := 4
		if e.DType == checkpoint.I64 {
			size = 8
		}
		bytes += int64(e.Shape.Elems() * size)
	}
	return bytes
}

// batchOf returns the samples and labels of batch k.
func batchOf(k int, s data.Shard, set *data.Set) []checkpoint.Entry {
	labels := integers(k, "labels", tensor.Shape{s.Samples}, s.Labels)
	if set.Texts != nil {
		return append(textsOf(k, s), labels)
	}
	h, w, c := set.Shape[0], set.Shape[1], set.Shape[2]
	var images []byte
	for _, v := range planes(s.Images, s.Samples, h*w, c) {
		images = binary.LittleEndian.AppendUint32(images, math.Float32bits(v))
	}
	return []checkpoint.Entry{labels, entry(k, "images", checkpoint.F32, tensor.Shape{s.Samples, c, h, w},
		images)}
}

// textsOf returns the texts of batch k, padded to the longest.
func textsOf(k int, s data.Shard) []checkpoint.Entry {
	longest := int(slices.Max(s.Lengths))
	tokens, kinds := make([]int32, s.Samples*longest), make([]int32, s.Samples*longest)
	read, hasPairs := 0, false
	for i, n := range s.Lengths {
		copy(tokens[i*longest:], s.Tokens[read:read+int(n)])
		read += int(n)
		if second := s.Splits[i]; second > 0 {
			hasPairs = true
			for j := second; j < n; j++ {
				kinds[i*longest+int(j)] = 1
			}
		}
	}
	shape := tensor.Shape{s.Samples, longest}
	entries := []checkpoint.Entry{integers(k, "tokens", shape, tokens),
		integers(k, "lengths", tensor.Shape{s.Samples}, s.Lengths)}
	if hasPairs {
		entries = append(entries, integers(k, "kinds", shape, kinds))
	}
	return entries
}

// integers returns a tensor of batch k with these values.
func integers(k int, name string, s tensor.Shape, values []int32) checkpoint.Entry {
	var text []byte
	for _, v := range values {
		text = binary.LittleEndian.AppendUint64(text, uint64(int64(v)))
	}
	return entry(k, name, checkpoint.I64, s, text)
}

// entry returns a tensor of batch k with these bytes.
func entry(k int, name string, t checkpoint.DType, s tensor.Shape, text []byte) checkpoint.Entry {
	return checkpoint.Entry{Name: fmt.Sprintf("batch.%d.%s", k, name), DType: t, Shape: s,
		Data: func(w io.Writer) error {
			_, err := w.Write(text)
			return err
		}}
}

// planes returns images [N, pixels, channels] as [N, channels, pixels].
func planes(x []float32, n, pixels, channels int) []float32 {
	y := make([]float32, n*pixels*channels)
	for i := range n {
		of := x[i*pixels*channels:]
		for p := range pixels {
			for c := range channels {
				y[(i*channels+c)*pixels+p] = of[p*channels+c]
			}
		}
	}
	return y
}
