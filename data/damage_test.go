package data_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"lockstep/data"
)

// victim is a small set of data with a file that is going to be damaged.
type victim struct {
	name, file string // of the set, and of the file below the folder
	options    data.Options
	allCuts    bool // a file cut anywhere is refused; else a cut may leave a shorter set
	every      int  // only one of so many places is damaged, for a set that takes long to read; 0: all are
}

// victims writes a set of each format.
func victims(t *testing.T) []victim {
	folder, texts := textFolder(t, map[string]string{
		"t/train.tsv": "text\tlabel\na b c\tx\n\"b\" c\ty\n" + strings.Repeat("c a\tx\n", 50),
		"t/dev.tsv":   "text\tlabel\na\tx\nb\ty\n",
		"c/train.csv": "text,label\n\"a, b\nc\",x\n\"b\"\"c\",y\n", "c/dev.csv": "text,label\na,x\n",
	})
	mnist := filepath.Join(folder, "m")
	mnistFolder(t, mnist, 12)
	svhn := filepath.Join(folder, "s")
	if err := os.Mkdir(svhn, 0o755); err != nil {
		t.Fatal(err)
	}
	x, y := array("X", digitImages(3), 32, 32, 3, 3), array("y", []byte{1, 10, 3}, 3, 1)
	for name, contents := range map[string][]byte{
		"train_32x32.mat": matFile(deflated(t, x), deflated(t, y)), "test_32x32.mat": matFile(x, y),
	} {
		if err := os.WriteFile(filepath.Join(svhn, name), contents, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	images, shards := photographs(t)
	arrays := arrayFolder(t, 12)
	shard, small := filepath.Join(shards, "train-0.tar"), data.Options{Side: 7}
	list := []victim{
		{arrays, filepath.Join(arrays, "X_train.npy"), data.Options{}, true, 4},
		{arrays, filepath.Join(arrays, "y_train.npy"), data.Options{}, true, 4},
		{images, trainFile(images, 0), small, false, 19}, {images, trainFile(images, 1), small, false, 19},
		{shards, shard, small, false, 19}, {shards, shard, data.Options{Side: 7, SkipBad: 17}, false, 19},
		{filepath.Join(folder, "t"), "t/train.tsv", texts, false, 0},
		{filepath.Join(folder, "t"), "vocab.txt", texts, false, 0},
		{filepath.Join(folder, "c"), "c/train.csv", texts, false, 0},
	}
	for _, file := range []string{"train-images-idx3-ubyte", "train-labels-idx1-ubyte.gz",
		"t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte"} {
		list = append(list, victim{"mnist", "m/" + file, data.Options{Dir: mnist}, true, 0})
	}
	for _, file := range []string{"train_32x32.mat", "test_32x32.mat"} {
		list = append(list, victim{"svhn", "s/" + file, data.Options{Dir: svhn}, true, 0})
	}
	for i := range list {
		if !filepath.IsAbs(list[i].file) {
			list[i].file = filepath.Join(folder, list[i].file)
		}
	}
	return list
}

// Whatever is cut off or flipped, a set is read or refused: with one line that names the file, in time
// and memory that do not depend on what the file claims.
func TestDamagedFilesAreRefusedInTime(t *testing.T) {
	for _, v := range victims(t) {
		whole, err := os.ReadFile(v.file)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := data.Load(context.Background(), v.name, v.options); err != nil {
			t.Fatalf("%s before any damage: %v", v.file, err)
		}
		refused, all := 0, places(len(whole), max(1, v.every))
		for _, n := range all {
			if loadDamaged(t, v, whole[:n]) {
				refused++
			} else if v.allCuts {
				t.Errorf("%s, cut to %d of %d bytes: no error", v.file, n, len(whole))
			}
		}
		for _, at := range all {
			for _, bit := range []byte{1, 0x80} {
				damaged := append([]byte{}, whole...)
				damaged[at] ^= bit
				if loadDamaged(t, v, damaged) {
					refused++
				}
			}
		}
		if refused < 3 {
			t.Errorf("%s: %d damages of all were refused", v.file, refused)
		}
		if err := os.WriteFile(v.file, whole, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// places returns bytes of a file of size bytes, one of every so many: of its head and of its tail, and some
// between.
func places(size, every int) []int {
	var list []int
	for i := 0; i < size; i += every {
		if i < 160 || i >= size-24 || i%(size/16+1) == 0 {
			list = append(list, i)
		}
	}
	return list
}

// loadDamaged loads a set with the file's contents replaced, and reports whether it is refused.
func loadDamaged(t *testing.T, v victim, contents []byte) bool {
	t.Helper()
	if err := os.WriteFile(v.file, contents, 0o644); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	var err error
	took := time.Hour
	for try := 0; try < 20 && took > 100*time.Millisecond; try++ { // the machine may be busy
		runtime.ReadMemStats(&before)
		begin := time.Now()
		_, _, err = data.Load(context.Background(), v.name, v.options)
		took = min(took, time.Since(begin))
		runtime.ReadMemStats(&after)
	}
	if used := after.TotalAlloc - before.TotalAlloc; took > 100*time.Millisecond || used > 64<<20 {
		t.Errorf("%s of %d bytes: took %v and %d bytes, want at most 100 ms and 64 MiB",
			v.file, len(contents), took, used)
	}
	var fault *data.FormatError
	if err != nil && (!errors.As(err, &fault) || strings.Contains(err.Error(), "\n") ||
		len(err.Error()) > 700 || fault.File == "") {
		t.Errorf("%s of %d bytes: %q, want a FormatError of one line", v.file, len(contents), err)
	}
	return err != nil
}

// Files of CIFAR-10 are large: a folder's are refused by their sizes, an archive's at its head.
func TestDamagedCIFARIsRefusedInTime(t *testing.T) {
	_, folder := cifarFolder(t)
	for i, name := range []string{"test_batch.bin", "data_batch_5.bin", "data_batch_1.bin"} {
		v := victim{name: "cifar10", file: filepath.Join(folder, name), options: data.Options{Dir: folder}}
		if !loadDamaged(t, v, make([]byte, i*1000)) {
			t.Errorf("%s of %d bytes: no error", name, i*1000)
		}
	}
	path := archive(t, member{name: batch("data_batch_1.bin"), kind: '0', size: data.CIFARBytes})
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	v := victim{name: "cifar10", file: path, options: data.Options{Dir: filepath.Dir(path)}}
	for n := range 64 {
		if !loadDamaged(t, v, whole[:n]) {
			t.Errorf("%s, cut to %d bytes: no error", path, n)
		}
	}
}
