package data

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"

	"lockstep/tensor"
)

// ImagesIn lists the images at path: the file itself, or those in the folder and below it in the order of
// their names, without hidden ones; links to images count. Errors: *ReadError, or *FormatError for a folder
// without images.
func ImagesIn(path string) (paths []string, err error) {
	err = filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return &ReadError{File: p, Err: errors.Unwrap(err)}
		case p != path && isHidden(d.Name()) && d.IsDir():
			return filepath.SkipDir
		case p == path && !d.IsDir(), isImageName(d.Name()) && !isHidden(d.Name()) && isFile(p):
			paths = append(paths, p)
		}
		return nil
	})
	if err == nil && paths == nil {
		err = folderFault(path, "give images or a folder of them", "no image in it")
	}
	return paths, err
}

// Reader decodes images for a network in use, as those of a folder are: to Side pixels, in RGB or, if IsGrey,
// as Pillow's convert("L") makes grey of that.
type Reader struct {
	Side   int
	IsGrey bool
}

// Image decodes a JPEG, PNG or WebP image, which errors call name: [Side, Side, C]. Errors: those of an image
// of a folder.
func (r Reader) Image(name string, file io.ReadSeeker) ([]byte, error) {
	pixels := make([]byte, r.Side*r.Side*3)
	d := decoder{side: r.Side}
	err := d.read(file, name, pixels, portion{})
	return r.grey(pixels), err
}

// Images decodes the images at paths on all cores, one after the other in the result. faults says of each
// what is wrong with it, or is nil there: the place of a damaged one has any pixels. Errors: those of files
// that cannot be read.
func (r Reader) Images(ctx context.Context, paths []string) (pixels []byte, faults []*FormatError,
	err error) {
	all, size := decoders{side: r.Side}, r.Side*r.Side*3
	pixels = make([]byte, len(paths)*size)
	faults, err = faultsOf(ctx, len(paths), func(i int) error {
		d := all.take()
		defer all.give(d)
		return orSkip(d.decode(ctx, paths[i], pixels[i*size:(i+1)*size], portion{}))
	})
	return r.grey(pixels), faults, err
}

// grey replaces colours by their luma, if it is wanted.
func (r Reader) grey(pixels []byte) []byte {
	if !r.IsGrey {
		return pixels
	}
	for i := range len(pixels) / 3 {
		p := pixels[3*i:]
		pixels[i] = byte((19595*uint32(p[0]) + 38470*uint32(p[1]) + 7471*uint32(p[2]) + 1<<15) >> 16)
	}
	return pixels[:len(pixels)/3]
}

// Unlabelled returns a set without samples for a network in use, whose inputs have these classes and this
// shape: images, or texts of a vocabulary that o names. Errors: those of the vocabulary.
func Unlabelled(classes []string, shape tensor.Shape, o Options) (*Set, error) {
	s := &Set{Name: "the inputs", Source: "the inputs", Classes: classes, Shape: shape}
	if len(shape) > 1 {
		for range shape[len(shape)-1] {
			s.Mean, s.Std = append(s.Mean, 0), append(s.Std, 1)
		}
		copy(s.Mean, []float32{0.485, 0.456, 0.406})
		copy(s.Std, []float32{0.229, 0.224, 0.225})
		return s, nil
	}
	tokenizer, err := o.vocabulary(s.Name)
	if err == nil {
		s.Texts = &Texts{Vocabulary: tokenizer.Len(), Tokenizer: tokenizer}
	}
	return s, err
}

// EachText calls visit for each record of a CSV, TSV or JSONL file, with its text and, if o names a column
// of second texts, its second one. Labels may be missing. The first line is a header where it is one in a
// file of labelled texts; so o.LabelColumn counts, if there is that column or not. Errors: those of such a
// file, and visit's.
func EachText(ctx context.Context, path string, o Options, visit func(text, second string) error) error {
	t := textReader{textColumn: o.TextColumn, labelColumn: o.LabelColumn, pairColumn: o.PairColumn,
		isUnlabelled: true}
	isEmpty := true
	err := t.each(ctx, path, func(r record, _ int) error {
		isEmpty = false
		return visit(r.text, r.pair)
	})
	if err == nil && isEmpty {
		err = noRecord(path)
	}
	return err
}
