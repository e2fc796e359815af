package data

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"

	"lockstep/internal/regular"
	"lockstep/tensor"
)

// ImagesIn lists the images at path: the file itself, or those in the folder and below it in the order of
// their names, without hidden ones. Errors: *ReadError, or *FormatError for a folder without images.
func ImagesIn(path string) (paths []string, err error) {
	err = filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return &ReadError{File: p, Err: errors.Unwrap(err)}
		case p != path && isHidden(d.Name()) && d.IsDir():
			return filepath.SkipDir
		case p == path && !d.IsDir(), d.Type().IsRegular() && isImageName(d.Name()) && !isHidden(d.Name()):
			paths = append(paths, p)
		}
		return nil
	})
	if err == nil && paths == nil {
		err = folderFault(path, "give images or a folder of them", "no image in it")
	}
	return paths, err
}

// Images reads images of which nobody says what they show: a set in which all have the first of the classes,
// decoded as those of a folder are to side pixels, in RGB or, if isGrey, as Pillow's convert("L") makes grey
// of that. Errors: those of a folder's images.
func Images(ctx context.Context, paths []string, side int, isGrey bool, classes []string) (*Set, error) {
	f := imageFolder{side: sizeOr(side, defaultSide), classes: classes}
	files := make([]imageFile, len(paths))
	for i, path := range paths {
		files[i].path = path
	}
	pixels := make([]byte, len(files)*f.side*f.side*3)
	if err := f.decodeAll(ctx, files, pixels); err != nil {
		return nil, err
	}
	s := f.newSet(files, pixels)
	if isGrey {
		s.turnGrey()
	}
	return s, nil
}

// turnGrey replaces colours by their luma.
func (s *Set) turnGrey() {
	for i := range len(s.Pixels) / 3 {
		p := s.Pixels[3*i:]
		s.Pixels[i] = byte((19595*uint32(p[0]) + 38470*uint32(p[1]) + 7471*uint32(p[2]) + 1<<15) >> 16)
	}
	s.Pixels = s.Pixels[:len(s.Pixels)/3]
	s.Shape, s.Mean, s.Std = tensor.Shape{s.Shape[0], s.Shape[1], 1}, s.Mean[:1], s.Std[:1]
}

// TextsOf returns texts of which nobody says what they mean, or pairs of texts where there are seconds: a set
// in which all have the first of the classes. Errors: those of the vocabulary that o names.
func TextsOf(name string, texts, seconds, classes []string, o Options) (*Set, error) {
	o.PairColumn = ""
	if seconds != nil {
		o.PairColumn = "pair"
	}
	t, err := newTextReader(name, o)
	if err != nil {
		return nil, err
	}
	t.labels, t.isFixed = classes, true
	s := t.newSet(name)
	for i, text := range texts {
		r := record{text: text, label: classes[0]}
		if seconds != nil {
			r.pair = seconds[i]
		}
		if err := t.add(s, r, name, i+1); err != nil {
			return nil, err
		}
	}
	s.Classes, s.Shape = classes, tensor.Shape{s.Texts.Longest()}
	return s, nil
}

// ReadTexts reads the column of texts of a CSV, TSV or JSONL file, and that of second texts if o names one.
// Errors: those of a file of labelled texts.
func ReadTexts(ctx context.Context, path string, o Options) (texts, seconds []string, err error) {
	file, err := regular.Open(path)
	if err != nil {
		return nil, nil, &ReadError{File: path, Err: err}
	}
	defer file.Close()
	r := newRecordReader(&contextReader{ctx, file}, path)
	first, _, err := r.next()
	if err == io.EOF {
		return nil, nil, &FormatError{File: path, Offset: 0, Reason: "empty"}
	} else if err != nil {
		return nil, nil, err
	}
	text, isHeader, err := column(first, path, "text", o.TextColumn, textNames()...)
	pair := -1
	if err == nil && o.PairColumn != "" {
		pair, _, err = column(first, path, "pair", o.PairColumn)
	}
	if err != nil {
		return nil, nil, err
	}
	for fields := first; err == nil; fields, _, err = r.next() {
		if isHeader {
			isHeader = false
			continue
		}
		texts = append(texts, fields[text])
		if pair >= 0 {
			seconds = append(seconds, fields[pair])
		}
	}
	if err != io.EOF {
		return nil, nil, err
	}
	if texts == nil {
		return nil, nil, &FormatError{File: path, Offset: -1, Reason: "no record behind the header line"}
	}
	return texts, seconds, nil
}
