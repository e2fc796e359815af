package data

import (
	"bufio"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"lockstep/internal/regular"
	"lockstep/tensor"
)

// MNIST's images have 28x28 pixels. They get a margin of two black pixels, like LeNet's input
// (LeCun et al. 1998), so that every model for 32x32 images accepts them.
const (
	mnistSide   = 28
	mnistMargin = 2
	mnistPadded = mnistSide + 2*mnistMargin
	mnistLimit  = 1 << 17 // images in a file, at most
	mnistMirror = "https://ossci-datasets.s3.amazonaws.com/mnist/"
)

func mnistSource() source {
	s := source{
		Info: Info{
			Name: "mnist", Text: "MNIST, 60,000 + 10,000 handwritten digits, 28x28 grey with a margin",
			Files: []File{
				{SHA256: "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
					Bytes: 9_912_422},
				{SHA256: "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
					Bytes: 28_881},
				{SHA256: "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
					Bytes: 1_648_877},
				{SHA256: "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
					Bytes: 4_542},
			},
		},
		locate: locateMNIST,
		members: func(dir string) []string {
			var paths []string
			for _, name := range mnistFiles() {
				paths = append(paths, mnistPath(dir, name))
			}
			return paths
		},
		lacks: func(folder string) string {
			has := func(dir, name string) bool { return mnistPath(dir, name) != "" }
			for _, dir := range mnistFolders(folder) {
				if lack := lacking(dir, mnistFiles(), has); lack != "" {
					return lack
				}
			}
			return ""
		},
		read: pair(readMNIST),
	}
	for i, name := range mnistFiles() {
		s.Files[i].Path = "mnist/" + name + ".gz"
		s.Files[i].URL = mnistMirror + name + ".gz"
		s.wants = append(s.wants, "mnist/"+name+".gz")
	}
	return s
}

// mnistFiles returns the names without ".gz": training images and labels, test images and labels.
func mnistFiles() []string {
	return []string{"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
		"t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"}
}

// mnistFolders lists where the files can be: in a folder of the set, torchvision's, or folder itself.
func mnistFolders(folder string) []string {
	return []string{filepath.Join(folder, "mnist"), filepath.Join(folder, "MNIST"),
		filepath.Join(folder, "MNIST", "raw"), filepath.Join(folder, "raw"), folder}
}

// locateMNIST returns the first folder with the four files, or "".
func locateMNIST(folder string) string {
next:
	for _, dir := range mnistFolders(folder) {
		for _, name := range mnistFiles() {
			if mnistPath(dir, name) == "" {
				continue next
			}
		}
		return dir
	}
	return ""
}

// mnistPath returns the path of a file, or "". It may be gzipped, have the name that is stored in the
// published archives, with a point before idx, and lie in a folder of its own name as on Kaggle.
func mnistPath(dir, name string) string {
	pointed := strings.Replace(name, "-idx", ".idx", 1)
	for _, plain := range []string{name, pointed, name + "/" + name, name + "/" + pointed,
		pointed + "/" + pointed} {
		for _, path := range []string{plain, plain + ".gz"} {
			if path = filepath.Join(dir, path); isFile(path) {
				return path
			}
		}
	}
	return ""
}

func readMNIST(ctx context.Context, dir string, _ Options) (train, test *Set, err error) {
	names := mnistFiles()
	if train, err = readMNISTPart(ctx, dir, names[0], names[1]); err != nil {
		return nil, nil, err
	}
	test, err = readMNISTPart(ctx, dir, names[2], names[3])
	return train, test, err
}

func readMNISTPart(ctx context.Context, dir, images, labels string) (*Set, error) {
	s := &Set{
		Name:    "mnist",
		Shape:   tensor.Shape{mnistPadded, mnistPadded, 1},
		Classes: digitNames(),
		Mean:    []float32{0.1307}, Std: []float32{0.3081}, // of the 28x28 images
		Source: dir,
	}
	numImages := 0
	imagePath, labelPath := mnistPath(dir, images), mnistPath(dir, labels)
	err := readMaybeGzip(ctx, imagePath, func(r io.Reader) (err error) {
		var raw []byte
		raw, numImages, err = readIDX(r, imagePath, []int{mnistSide, mnistSide}, mnistLimit)
		s.Pixels = addMargin(raw, numImages)
		return err
	})
	if err != nil {
		return nil, err
	}
	err = readMaybeGzip(ctx, labelPath, func(r io.Reader) (err error) {
		labels, _, err := readIDX(r, labelPath, nil, mnistLimit)
		s.addLabels(labels)
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(s.Labels) != numImages {
		return nil, &FormatError{File: labelPath, Offset: 4,
			Reason: fmt.Sprintf("%d labels for %d images", len(s.Labels), numImages)}
	}
	for i, label := range s.Labels {
		if label > 9 {
			return nil, &FormatError{File: labelPath, Offset: int64(8 + i),
				Reason: fmt.Sprintf("label %d, want 0 to 9", label)}
		}
	}
	return s, nil
}

// readMaybeGzip calls read with the contents of a file, decompressed if its name ends in .gz.
func readMaybeGzip(ctx context.Context, path string, read func(io.Reader) error) error {
	f, err := regular.Open(path)
	if err != nil {
		return &ReadError{File: path, Err: err}
	}
	defer f.Close()
	r := io.Reader(bufio.NewReader(&contextReader{ctx, f}))
	if strings.HasSuffix(path, ".gz") {
		unzipped, err := gzip.NewReader(r)
		if err != nil {
			return readError(err, path, 0, "not a gzip file")
		}
		r = unzipped
	}
	return read(r)
}

// addMargin copies n images of 28x28 into the middle of 32x32 black pixels.
func addMargin(raw []byte, n int) []byte {
	padded := make([]byte, n*mnistPadded*mnistPadded)
	for i := range n {
		for y := range mnistSide {
			from := (i*mnistSide + y) * mnistSide
			to := (i*mnistPadded+y+mnistMargin)*mnistPadded + mnistMargin
			copy(padded[to:to+mnistSide], raw[from:])
		}
	}
	return padded
}
