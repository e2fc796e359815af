package data

import (
	"context"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"

	"lockstep/internal/regular"
	"lockstep/tensor"
)

// SVHN's cropped digits (Netzer et al. 2011): MATLAB files with X, unsigned bytes [32, 32, 3, N],
// first axis innermost, and y, the digits [N, 1], with 10 for the digit 0.
const (
	svhnSide   = 32
	svhnPlane  = svhnSide * svhnSide
	svhnLimit  = 1 << 20 // images in a file, at most
	svhnServer = "http://ufldl.stanford.edu/housenumbers/"
)

// svhnSource is the usual data set.
func svhnSource() source {
	return svhnFrom("svhn", "SVHN, 73,257 + 26,032 house number digits, 32x32 RGB",
		File{Path: "train_32x32.mat",
			SHA256: "435e94d69a87fde4fd4d7f3dd208dfc32cb6ae8af2240d066de1df7508d083b8", Bytes: 182_040_794})
}

// svhnExtraSource is the data set with the 531,131 easier images added to training.
func svhnExtraSource() source {
	return svhnFrom("svhn-extra", "SVHN with 531,131 easier images added to training",
		svhnSource().Files[0],
		File{Path: "extra_32x32.mat",
			SHA256: "a133a4beb38a00fcdda90c9489e0c04f900b660ce8a316a5e854838379a71eb3", Bytes: 1_329_278_602})
}

// svhnFrom returns the set whose training images are those of the given files.
func svhnFrom(name, text string, trainFiles ...File) source {
	test := File{Path: "test_32x32.mat",
		SHA256: "cdce80dfb2a2c4c6160906d0bd7c68ec5a99d7ca4831afa54f09182025b6a75b", Bytes: 64_275_384}
	s := source{Info: Info{Name: name, Text: text}}
	var names []string
	for _, f := range append(trainFiles, test) {
		f.Path = path.Base(f.Path)
		names = append(names, f.Path)
		f.URL, f.Path = svhnServer+f.Path, "svhn/"+f.Path
		s.Files, s.wants = append(s.Files, f), append(s.wants, f.Path)
	}
	s.locate = func(folder string) string {
		for _, dir := range svhnFolders(folder) {
			if hasFiles(dir, names) {
				return dir
			}
		}
		return ""
	}
	s.members = inFolder(names)
	s.lacks = func(folder string) string {
		for _, dir := range svhnFolders(folder) {
			if lack := lacking(dir, names, hasFile); lack != "" {
				return lack
			}
		}
		return ""
	}
	s.read = pair(func(ctx context.Context, dir string, _ Options) (train, test *Set, err error) {
		last := len(names) - 1
		if train, err = readSVHN(ctx, name, dir, names[:last]); err != nil {
			return nil, nil, err
		}
		test, err = readSVHN(ctx, name, dir, names[last:])
		return train, test, err
	})
	return s
}

func svhnFolders(folder string) []string { return []string{filepath.Join(folder, "svhn"), folder} }

// readSVHN reads the files of one part of the set, one after another.
func readSVHN(ctx context.Context, name, dir string, files []string) (*Set, error) {
	s := &Set{
		Name:    name,
		Shape:   tensor.Shape{svhnSide, svhnSide, 3},
		Classes: digitNames(),
		Mean:    []float32{0.4377, 0.4438, 0.4728}, // of the training images
		Std:     []float32{0.1980, 0.2010, 0.1970},
		Source:  dir,
	}
	for _, file := range files {
		if err := s.readSVHNFile(ctx, filepath.Join(dir, file)); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *Set) readSVHNFile(ctx context.Context, name string) error {
	file, err := regular.Open(name)
	if err != nil {
		return &ReadError{File: name, Err: err}
	}
	defer file.Close()
	return s.appendSVHN(&contextReader{ctx, file}, name)
}

// appendSVHN adds the samples of one file. file names r in errors.
func (s *Set) appendSVHN(r io.Reader, file string) error {
	images, labels := 0, 0
	err := readMAT(r, file, func(a matArray) error {
		at := a.data.at
		switch {
		case a.name == "X" && images == 0:
			if len(a.axes) != 4 || !slices.Equal(a.axes[:3], []int{svhnSide, svhnSide, 3}) ||
				a.axes[3] < 1 || a.axes[3] > svhnLimit {
				return a.data.fault(at, "X has axes %v, want [32 32 3 N] with N from 1 to %d", a.axes,
					svhnLimit)
			}
			images = a.axes[3]
			return s.appendSVHNImages(a)
		case a.name == "y" && labels == 0:
			if len(a.axes) != 2 || a.axes[1] != 1 || a.size < 1 || a.size > svhnLimit {
				return a.data.fault(at, "y has axes %v, want [N 1] with N from 1 to %d", a.axes, svhnLimit)
			}
			labels = a.size
			return s.appendSVHNLabels(a)
		}
		return a.data.fault(at, "array %.20q, want one X and one y", a.name)
	})
	if err == nil && (images == 0 || images != labels) {
		err = &FormatError{File: file, Offset: -1,
			Reason: fmt.Sprintf("%d images X, %d labels y, want as many", images, labels)}
	}
	return err
}

// appendSVHNImages reads X: for each image three planes, each column by column.
func (s *Set) appendSVHNImages(a matArray) error {
	var image [3 * svhnPlane]byte
	for i := range a.axes[3] {
		if err := a.data.full(image[:], fmt.Sprintf("image %d of %d", i, a.axes[3])); err != nil {
			return err
		}
		s.Pixels = slices.Grow(s.Pixels, len(image))
		at := len(s.Pixels)
		s.Pixels = s.Pixels[:at+len(image)]
		pixels := s.Pixels[at:]
		for w := range svhnSide {
			for h := range svhnSide {
				p, from := pixels[(h*svhnSide+w)*3:][:3], w*svhnSide+h
				p[0], p[1], p[2] = image[from], image[svhnPlane+from], image[2*svhnPlane+from]
			}
		}
	}
	return nil
}

// appendSVHNLabels reads y, 1 to 10, as the digits 1 to 9 and 0.
func (s *Set) appendSVHNLabels(a matArray) error {
	at := a.data.at
	labels, err := io.ReadAll(io.LimitReader(a.data, int64(a.size)))
	if err == nil && len(labels) < a.size {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return readError(err, a.data.file, at+int64(len(labels)), "ends in y")
	}
	for i, label := range labels {
		if label < 1 || label > 10 {
			return a.data.fault(at+int64(i), "label %d, want 1 to 10", label)
		}
		labels[i] = label % 10
	}
	s.addLabels(labels)
	return nil
}
