package data_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockstep/data"
	"lockstep/internal/alloctest"
)

// writeArray writes an array as numpy.save does, but for the padding of its header.
func writeArray(t testing.TB, path, descr, shape string, body []byte) {
	t.Helper()
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }\n", descr, shape)
	text := append([]byte("\x93NUMPY\x01\x00"), byte(len(header)), byte(len(header)>>8))
	if err := os.WriteFile(path, slices.Concat(text, []byte(header), body), 0o600); err != nil {
		t.Fatal(err)
	}
}

// arrayFolder writes n training images of 6x4 in colour and a few to test, of 300 classes.
func arrayFolder(t testing.TB, n int) string {
	folder := t.TempDir()
	for part, n := range map[string]int{"train": n, "test": 20} {
		var pixels, labels []byte
		for i := range n {
			for k := range 6 * 4 * 3 {
				pixels = append(pixels, byte(i*7+k*(1+i%5)))
			}
			labels = binary.LittleEndian.AppendUint64(labels, uint64(i*37%300))
		}
		writeArray(t, filepath.Join(folder, "X_"+part+".npy"), "|u1", fmt.Sprintf("(%d, 6, 4, 3)", n), pixels)
		writeArray(t, filepath.Join(folder, "y_"+part+".npy"), "<i8", fmt.Sprintf("(%d,)", n), labels)
	}
	return folder
}

func loadPath(t testing.TB, path string, o data.Options) data.Sets {
	t.Helper()
	s, err := data.Catalog{}.Load(context.Background(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Samples that stay in their file are, bit by bit, those that were read into memory, in the order of either
// kind and with augmentation, whatever part of the batch a worker has; a step of them allocates nothing.
func TestAFileIsReadAsMemoryIs(t *testing.T) {
	folder := arrayFolder(t, 300)
	memory, stored := loadPath(t, folder, data.Options{}), loadPath(t, folder, data.Options{InMemory: 1})
	if memory.Train.Pixels == nil || stored.Train.Samples == nil || len(stored.Train.Classes) != 300 {
		t.Fatalf("in memory %v, in the file %v, %d classes", memory.Train.Samples, stored.Train.Pixels,
			len(stored.Train.Classes))
	}
	for _, isByBlock := range []bool{false, true} {
		open := func(s *data.Set, lo, hi int) *data.Loader {
			l, err := data.NewLoader(data.LoaderConfig{Set: s, Batch: 40, Shards: 4, Lo: lo, Hi: hi, Seed: 5,
				ByBlock: isByBlock, Threads: hi, Augment: data.Augmentation{Pad: 1, Flip: true, Cutout: 2}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { l.Close() })
			return l
		}
		whole, half := open(memory.Train, 0, 4), open(stored.Train, 2, 4)
		for range 20 {
			a, err := whole.Next()
			b, fault := half.Next()
			if err != nil || fault != nil {
				t.Fatal(err, fault)
			}
			for i := range b.Shards {
				x, y := a.Shards[2+i], b.Shards[i]
				if !slices.Equal(x.Images, y.Images) || !slices.Equal(x.Labels, y.Labels) || x.Samples == 0 {
					t.Fatalf("by blocks %v: shard %d of step %d differs", isByBlock, y.Number, b.Number)
				}
			}
		}
	}
	var x, y data.Shard
	for _, v := range data.FlipShiftViews()[:3] {
		memory.Test.TakeView(&x, 3, 17, v)
		if err := stored.Test.TakeView(&y, 3, 17, v); err != nil || !slices.Equal(x.Images, y.Images) {
			t.Errorf("view %+v differs, error %v", v, err)
		}
	}
	l, err := data.NewLoader(data.LoaderConfig{Set: stored.Train, Batch: 40, Shards: 2, Hi: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for what, f := range map[string]func() error{
		"a step":                func() error { _, err := l.Next(); return err },
		"an evaluation's batch": func() error { return stored.Test.Take(&y, 0, 10) },
	} {
		n := alloctest.Least(20, func() {
			if err := f(); err != nil {
				t.Error(err)
			}
		})
		if n > 0 {
			t.Errorf("%s from a file allocates %d times", what, n)
		}
	}
}

// What is scored alone is read once and counts once, and a context ends the reading.
func TestOnePartIsReadOnce(t *testing.T) {
	folder := t.TempDir()
	writeArray(t, filepath.Join(folder, "train.npy"), "|u1", "(100, 2, 2, 1)", make([]byte, 400))
	writeArray(t, filepath.Join(folder, "train-labels.npy"), "|u1", "(100,)", make([]byte, 100))
	o := data.Options{EvalOnly: true, InMemory: 400}
	s := loadPath(t, folder, o)
	if s.Test != s.Train || len(s.Test.Pixels) != 400 || s.Test.Samples != nil {
		t.Errorf("%d bytes in memory, want 400, of one part: %v", len(s.Test.Pixels), s.Test == s.Train)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (data.Catalog{}).Load(ctx, folder, o); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
}

// Parts of the same samples in a file have hashes of their own, though labels are the same.
func TestPartsOfAFileHaveTheirOwnHash(t *testing.T) {
	s := loadPath(t, arrayFolder(t, 300), data.Options{InMemory: 1}).Test
	s.Labels = make([]int32, len(s.Labels))
	a, b := s.Pick([]int32{0, 1}), s.Pick([]int32{2, 3})
	if a.SHA256() == b.SHA256() || a.SHA256() != s.Pick([]int32{0, 1}).SHA256() {
		t.Errorf("hashes %s and %s", a.SHA256(), b.SHA256())
	}
}

// Blocks are an order of an epoch: each sample once, others in the next, near samples near.
func TestByBlockIsAnOrder(t *testing.T) {
	const n = 40_000
	s := data.NewSampler(n, 100, 4, 9).ByBlock()
	first, second := make([]int32, n), make([]int32, n)
	s.Order(first, 0)
	s.Order(second, 1)
	if slices.Equal(first, second) {
		t.Error("two epochs have one order")
	}
	s.Order(second, 0)
	if !slices.Equal(first, second) {
		t.Error("an epoch has two orders")
	}
	blocks := map[int32]bool{}
	for _, i := range first[:16384] {
		blocks[i/64] = true
	}
	if len(blocks) > 257 {
		t.Errorf("the first window has samples of %d blocks, want 256", len(blocks))
	}
	slices.Sort(second)
	for i, sample := range second {
		if int(sample) != i {
			t.Fatalf("sample %d is in place %d of all", sample, i)
		}
	}
}

// A value that is no number is told by its row when it is read; other faults before anything is.
func TestFaultsOfArraysAreNamed(t *testing.T) {
	var values []byte
	for i := range 40 {
		x := float32(i)
		if i == 25 {
			x = float32(math.NaN())
		}
		values = binary.LittleEndian.AppendUint32(values, math.Float32bits(x))
	}
	folder := t.TempDir()
	train, labels := filepath.Join(folder, "train.npy"), filepath.Join(folder, "train-labels.npy")
	set := func(descr, shape string, body []byte, numLabels int, label byte) error {
		writeArray(t, train, descr, shape, body)
		all := make([]byte, numLabels)
		for i := range all {
			all[i] = byte(i) % label
		}
		writeArray(t, labels, "|u1", fmt.Sprintf("(%d,)", numLabels), all)
		_, err := data.Catalog{}.Load(context.Background(), folder, data.Options{})
		return err
	}
	other := func(folder, descr, shape string, body []byte) error {
		writeArray(t, train, "<f4", "(5, 2)", values[:40])
		writeArray(t, labels, "|u1", "(5,)", []byte{0, 1, 0, 1, 1})
		writeArray(t, filepath.Join(folder, "test.npy"), descr, shape, body)
		writeArray(t, filepath.Join(folder, "test-labels.npy"), "|u1", "(5,)", []byte{0, 1, 0, 1, 1})
		_, err := data.Catalog{}.Load(context.Background(), folder, data.Options{})
		return err
	}
	for want, err := range map[string]error{
		"row 12 has NaN at place 1": set("<f4", "(20, 2)", values, 20, 2),
		"19 labels for 20 samples":  set("<f4", "(20, 2)", values, 19, 2),
		"all samples are of one":    set("<f4", "(5, 2)", values[:40], 5, 1),
		"elements of type f8":       set("<f8", "(20,)", values, 20, 2),
		"shape [5 0] has no el":     set("<f4", "(5, 0)", nil, 5, 2),
		"shape [5 0 3] has no":      set("|u1", "(5, 0, 3)", nil, 5, 2),
		"shape [0 3] has no":        set("<f4", "(0, 3)", nil, 0, 2),
		"transpose(0, 2, 3, 1)":     set("|u1", "(4, 2, 4, 5)", values, 4, 2),
		"5 channels of bytes":       set("|u1", "(4, 8, 1, 5)", values, 4, 2),
	} {
		if format := (*data.FormatError)(nil); !errors.As(err, &format) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want a *FormatError with %q", err, want)
		}
	}
	for want, err := range map[string]error{
		"samples [1, 1, 4], floats true; those of": other(folder, "<f4", "(5, 4)", values[:80]),
		"samples [1, 1, 2], floats false":          other(folder, "|u1", "(5, 1, 1, 2)", values[:10]),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	os.Remove(labels)
	if _, err := (data.Catalog{}).Load(context.Background(), folder, data.Options{}); err == nil ||
		!strings.Contains(err.Error(), "of the train part there is train.npy alone") {
		t.Errorf("without labels: %v", err)
	}
}
