package data

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// IsPath reports whether Load takes name for the path of the user's own data: it holds a slash,
// ends in .csv or .tsv, or is a folder, and is none of Names.
//
// Such a path is one of
//   - a file of texts, or a folder with train.csv or train.tsv and dev, val, valid, validation or
//     test of the same ending;
//   - a folder of images with train/ and test/, val/, valid/ or validation/, each of which holds a
//     folder per class, or a folder that holds a folder per class.
//
// Where there is no part for the test, the samples 9, 19, 29, ... are: of the file, or of each
// class in the order of names. Classes are the labels of the training part in order, by number if
// all are whole numbers, else by name, or the names of the folders in order.
func IsPath(name string) bool {
	for _, s := range sources() {
		if s.Name == name {
			return false
		}
	}
	info, err := os.Stat(name)
	return strings.ContainsAny(name, `/\`) || isRecordFile(name) || err == nil && info.IsDir()
}

// Kind says what the samples of a data set are.
type Kind int

// The kinds of samples. AnyKind is that of synthetic ones, and of what cannot be known before it is
// read.
const (
	ImageKind Kind = iota
	TextKind
	AnyKind
)

// KindOf returns what the samples of the named set or of the data at a path are. It looks at
// folders, but reads no file.
func KindOf(name string) Kind {
	s, err := find(name)
	if err != nil {
		return AnyKind
	}
	if s.path == "" {
		return s.kind
	}
	if _, _, isText := textPaths(s.path); isText {
		return TextKind
	}
	if isFolder(s.path) {
		return ImageKind
	}
	return AnyKind
}

func pathSource(path string) source {
	return source{
		Info: Info{Name: path, Text: "data of one's own"},
		path: path,
		read: readPath,
		prepare: func(ctx context.Context, o Options) error {
			if _, _, isText := textPaths(path); isText || !isFolder(path) {
				return nil
			}
			_, _, err := readImageFolder(ctx, path, o)
			return err
		},
	}
}

func readPath(ctx context.Context, path string, o Options) (train, test *Set, err error) {
	if _, err := os.Stat(path); err != nil {
		return nil, nil, &ReadError{File: path, Err: err}
	}
	if trainPath, testPath, isText := textPaths(path); isText {
		t, err := newTextReader(path, o)
		if err != nil {
			return nil, nil, err
		}
		return readTextFiles(ctx, trainPath, testPath, t)
	}
	if !isFolder(path) {
		return nil, nil, &FormatError{File: path, Offset: -1,
			Reason: "neither a folder nor a file of texts, .csv or .tsv"}
	}
	return readImageFolder(ctx, path, o)
}

// textPaths returns the files of texts that path stands for, twice the same for one file.
func textPaths(path string) (train, test string, isText bool) {
	if !isFolder(path) {
		return path, path, isRecordFile(path)
	}
	for _, ext := range []string{".tsv", ".csv"} {
		if train = filepath.Join(path, "train"+ext); !isFile(train) {
			continue
		}
		for _, part := range append([]string{"dev"}, testParts()...) {
			if test = filepath.Join(path, part+ext); isFile(test) {
				return train, test, true
			}
		}
		return train, train, true
	}
	return "", "", false
}

// testParts are the names that the test part of a set goes by, the preferred first.
func testParts() []string { return []string{"val", "valid", "validation", "test"} }

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// folderFault says what is wrong with a folder of images.
func folderFault(folder, format string, args ...any) error {
	return &FormatError{File: folder, Offset: -1, Reason: fmt.Sprintf(format, args...)}
}
