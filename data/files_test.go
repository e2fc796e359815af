package data_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"lockstep/data"
)

// The files of a set are found under the same names in another data folder.
func TestFilesAreFoundInAnotherFolder(t *testing.T) {
	for _, test := range []struct {
		set       string
		has, want []string
	}{
		{"cifar10", []string{"cifar-10-binary.tar.gz", "other.tar.gz"}, []string{"cifar-10-binary.tar.gz"}},
		{"cifar10", cifarIn("cifar-10-batches-bin/"), cifarIn("cifar-10-batches-bin/")},
		{"cifar10", append(cifarIn(""), "unrelated"), cifarIn("")},
		{"mnist", []string{"mnist/train-images-idx3-ubyte", "mnist/train-labels-idx1-ubyte.gz",
			"mnist/t10k-images-idx3-ubyte.gz", "mnist/t10k-labels-idx1-ubyte.gz"},
			[]string{"mnist/train-images-idx3-ubyte", "mnist/train-labels-idx1-ubyte.gz",
				"mnist/t10k-images-idx3-ubyte.gz", "mnist/t10k-labels-idx1-ubyte.gz"}},
		{"svhn", []string{"svhn/train_32x32.mat", "svhn/test_32x32.mat", "svhn/extra_32x32.mat"},
			[]string{"svhn/train_32x32.mat", "svhn/test_32x32.mat"}},
		{"sst2", []string{"SST-2/train.tsv", "SST-2/dev.tsv", "bert-base-uncased/vocab.txt",
			"bert-base-uncased/tokenizer_config.json"}, []string{"SST-2/train.tsv", "SST-2/dev.tsv",
			"bert-base-uncased/vocab.txt", "bert-base-uncased/tokenizer_config.json"}},
		{"glyphs", nil, nil},
		{"mnist", []string{"mnist/train-images-idx3-ubyte"}, nil},
	} {
		folder, there := t.TempDir(), t.TempDir()
		for _, name := range test.has {
			write(t, filepath.Join(folder, filepath.FromSlash(name)))
		}
		files, err := data.Catalog{}.Files(test.set, data.Options{Cache: folder})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, f := range files {
			names = append(names, f.Name)
			if _, err := os.Stat(f.Path); err != nil {
				t.Error(err)
			}
			write(t, filepath.Join(there, filepath.FromSlash(f.Name)))
		}
		if !slices.Equal(names, test.want) {
			t.Errorf("%s: %q, want %q", test.set, names, test.want)
		}
		path, err := data.Catalog{}.Locate(test.set, data.Options{Cache: there})
		if err != nil || (path == "") != (test.want == nil) {
			t.Errorf("%s in another folder: %q, %v", test.set, path, err)
		}
	}
}

func cifarIn(folder string) []string {
	var names []string
	for _, name := range []string{"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
		"data_batch_4.bin", "data_batch_5.bin", "test_batch.bin"} {
		names = append(names, folder+name)
	}
	return names
}

// write makes a file that holds its name.
func write(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(path), 0o666); err != nil {
		t.Fatal(err)
	}
}
