package data

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
func (s source) kindOf(o Options) Kind {
	switch {
	case s.path == "":
		return s.kind
	case isArrayPath(s.path), isShardPath(s.path):
		return ImageKind
	case isTextPath(s.path):
		files, err := textFiles(s.path, o)
		isText := o.TextColumn != "" || o.PairColumn != ""
		if err == nil && !isText {
			h, _ := readHeader(context.Background(), files[trainPart]) // reading tells what is wrong
			isText = h.hasTexts()
		}
		if isText {
			return TextKind
		}
	case isFolder(s.path):
		return ImageKind
	}
	return AnyKind
}

func pathSource(path string) source {
	return source{
		Info: Info{Name: path, Text: "data of one's own"},
		path: path,
		read: readPath,
		prepare: func(ctx context.Context, _ string, o Options) error {
			if isShardPath(path) && o.SkipBad > 0 {
				_, err := readShards(ctx, path, o)
				return err
			}
			if isArrayPath(path) || isShardPath(path) || isTextPath(path) || !isFolder(path) {
				return nil
			}
			_, err := readImageFolder(ctx, path, o)
			return err
		},
	}
}

func readPath(ctx context.Context, path string, o Options) (s Sets, err error) {
	if _, err := os.Stat(path); err != nil && braced(path) == nil {
		return s, &ReadError{File: path, Err: err}
	}
	switch {
	case isArrayPath(path):
		s, err = readArrays(ctx, path, o)
	case isShardPath(path):
		s, err = readShards(ctx, path, o)
	case isTextPath(path):
		s, err = readOwnTexts(ctx, path, o)
	case isFolder(path):
		s, err = readImageFolder(ctx, path, o)
	default:
		return s, folderFault(path, "name one of these",
			"neither a folder nor a file of texts or a table, .csv, .tsv or .jsonl, nor an array, .npy, "+
				"nor .tar")
	}
	if err == nil && !o.Regression && len(s.Train.Classes) < 2 && !o.EvalOnly {
		return s, folderFault(path, "add samples of another class, or name the folder of the classes",
			"all samples are of one class, %q, so there is nothing to learn", s.Train.Classes[0])
	}
	return s, err
}

// textFiles returns the files of the parts of a file of records, or of a folder with one for each part.
func textFiles(path string, o Options) (files partPaths, err error) {
	if !isFolder(path) {
		files = partPaths{path}
	} else if files, err = findParts(path, textPart); err != nil {
		return files, err
	} else if files, err = files.begin(path, o.EvalOnly); err != nil {
		return files, err
	}
	return files, o.addValidation(path, files[validationPart] != "", &files[validationPart])
}

// addValidation puts the path of a validation part of its own, if o has one, in the place of that of the data
// at path, which must have none.
func (o Options) addValidation(path string, hasOne bool, to *string) error {
	if o.Validation == "" {
		return nil
	}
	if _, err := os.Stat(o.Validation); err != nil && braced(o.Validation) == nil {
		return &ReadError{File: o.Validation, Err: err}
	}
	if isSamePath(o.Validation, path) {
		return folderFault(path, "name other samples, or a share, as in --validation 0.1",
			"it is trained on, so it says nothing as --validation")
	}
	if hasOne {
		return folderFault(path, "leave out --validation, or name the training part alone with --data",
			"it has a validation part already, besides %s", o.Validation)
	}
	*to = o.Validation
	return nil
}

// readOwnTexts reads a file of texts or a table of numbers, or a folder with one for each part.
func readOwnTexts(ctx context.Context, path string, o Options) (Sets, error) {
	files, err := textFiles(path, o)
	if err != nil {
		return Sets{}, err
	}
	h, err := readHeader(ctx, files[trainPart])
	if err != nil {
		return Sets{}, err
	}
	if o.TextColumn == "" && !h.hasTexts() {
		isTable := h.hasLabels(o.LabelColumn)
		if isTable && o.PairColumn == "" && len(o.Shape) != 1 {
			return readNumbers(ctx, path, files, o)
		} else if !isTable {
			return Sets{}, h.nameless(files[trainPart], o.LabelColumn)
		}
	}
	t, err := newTextReader(path, o)
	understood := ""
	if missing := (*MissingError)(nil); errors.As(err, &missing) && !o.EvalOnly {
		o.Tokenizer, err = o.ownVocabulary(ctx, files)
		if err == nil {
			understood = fmt.Sprintf("a vocabulary of %d tokens made of the training texts, as there is none",
				o.Tokenizer.Len())
			t, err = newTextReader(path, o)
		}
	}
	if err != nil {
		return Sets{}, err
	}
	s, err := t.readParts(ctx, files, o.EvalOnly)
	s.Understood = understood
	return s, err
}

// header is the first record of a file: the names of its columns, if they have any.
type header []string

// readHeader reads it. Errors: those of OpenRows.
func readHeader(ctx context.Context, path string) (header, error) {
	r, err := OpenRows(ctx, path)
	if err != nil {
		return nil, err
	}
	return r.Header(), r.Close()
}

// hasTexts reports whether there is a column of texts by a usual name.
func (h header) hasTexts() bool {
	return slices.ContainsFunc(h, func(name string) bool { return isOneOf(name, textNames()) })
}

// hasLabels reports whether there is the wanted column of labels or, if that is "", one by a usual name, or
// several.
func (h header) hasLabels(wanted string) bool {
	_, _, err := column(h, "", "label", wanted, labelNames()...)
	isUsual := func(name string) bool { return isOneOf(name, labelNames()) }
	return err == nil || wanted == "" && slices.ContainsFunc(h, isUsual)
}

// nameless is the error for the file at path, which has neither texts nor labels.
func (h header) nameless(path, wanted string) error {
	classes := cmp.Or(wanted, strings.Join(labelNames(), " or "))
	return &FormatError{File: path, Offset: -1, Line: 1, Reason: fmt.Sprintf("no column of classes, %s, and "+
		"none of texts, %s in the header %.200q", classes,
		strings.Join(textNames(), " or "), strings.Join(h, " | ")),
		Next: "name that of classes, or with --task regression of numbers, by --label-column and, if there " +
			"are texts, theirs by --text-column"}
}

// isTextPath reports whether path is a file of texts, or a folder with one of a part.
func isTextPath(path string) bool {
	if !isFolder(path) {
		_, err := os.Stat(path)
		return err == nil && isRecordFile(path)
	}
	files, err := findParts(path, textPart)
	return err != nil || files != partPaths{}
}

// textPart returns the name of a file of texts without its ending, "" of any other path.
func textPart(path string) string {
	if !isRecordFile(path) || !isFile(path) {
		return ""
	}
	name := filepath.Base(path)
	return strings.TrimSuffix(name, filepath.Ext(name))
}

// The parts of a data set, in the order of partPaths.
const (
	trainPart = iota
	validationPart
	testPart
	numParts
)

// partPaths are the paths of the parts of a data set; "" of a part that there is not.
type partPaths [numParts]string

// begin returns the parts of a folder of which the first is to be trained on or, if isScored, is what is
// scored where there is none to train on.
func (p partPaths) begin(folder string, isScored bool) (partPaths, error) {
	scored := cmp.Or(p[testPart], p[validationPart])
	switch {
	case p[trainPart] != "" || scored == "":
		return p, nil
	case isScored:
		return partPaths{scored}, nil
	}
	return p, folderFault(folder, "add one called train", "%s is there, and no part to train on",
		filepath.Base(scored))
}

// partNames lists the names of each part, in lower case.
func partNames() [numParts][]string {
	return [numParts][]string{{"train", "training"}, {"val", "valid", "validation", "dev"},
		{"test", "testing"}}
}

// findParts returns the paths in a folder for which name returns that of a part, in upper or lower case.
func findParts(folder string, name func(path string) string) (p partPaths, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return p, &ReadError{File: folder, Err: err}
	}
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		called := strings.ToLower(name(path))
		for i, names := range partNames() {
			if !slices.Contains(names, called) {
				continue
			}
			if p[i] != "" {
				return p, folderFault(folder, "keep one of them", "%s and %s are both the %s part",
					filepath.Base(p[i]), e.Name(), names[0])
			}
			p[i] = path
		}
	}
	return p, nil
}

// isSamePath reports whether two paths are those of one file or folder.
func isSamePath(a, b string) bool {
	x, err := os.Stat(a)
	y, other := os.Stat(b)
	return err == nil && other == nil && os.SameFile(x, y)
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// folderFault returns the error for an invalid folder of images; next says what to do about it.
func folderFault(folder, next, format string, args ...any) error {
	return &FormatError{File: folder, Offset: -1, Reason: fmt.Sprintf(format, args...), Next: next}
}
