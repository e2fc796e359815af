package data

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// Kind is the kind of a data set's samples.
type Kind int

// The kinds of samples. AnyKind is the kind of synthetic sets, and of sets whose kind is unknown
// before they are read.
const (
	ImageKind Kind = iota
	TextKind
	AnyKind
)

// kindOf returns the kind of the samples.
func (s source) kindOf() Kind {
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
			Reason: "neither a folder nor a file of texts, .csv or .tsv",
			Next:   "name one of these"}
	}
	return readImageFolder(ctx, path, o)
}

// textPaths returns the files of texts at path; for a single file it returns the same path twice.
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

// testParts lists the names of a test part, the preferred one first.
func testParts() []string { return []string{"val", "valid", "validation", "test"} }

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// folderFault returns the error for an invalid folder of images; next says what to do about it.
func folderFault(folder, next, format string, args ...any) error {
	return &FormatError{File: folder, Offset: -1, Reason: fmt.Sprintf(format, args...), Next: next}
}
