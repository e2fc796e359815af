package data

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"lockstep/data/npy"
	"lockstep/data/table"
	"lockstep/internal/regular"
	"lockstep/tensor"
)

// Note: arrays
//
// Samples of an array are [N, H, W, C] or [N, H, W] bytes, or floats of any of these shapes or of [N, D]:
// vectors, which are images of one pixel with D channels. Labels are whole numbers in an array of their own,
// or with Options.Regression any numbers, [N] or [N, K].
// In a folder the files of a part have its name in theirs, as train.npy, X_train.npy and train_images.npy
// have, and those of labels one of label, labels, y, target or targets; beside a file x.npy lies x-labels.npy
// or x_labels.npy. Names of classes are the lines of classes.txt, if it is there.

// defaultInMemory is how many bytes of a file's samples are read into memory without another bound.
const defaultInMemory = 1 << 30

// arrayFiles are the files of one part.
type arrayFiles struct{ samples, labels string }

// isArrayPath reports whether path is an .npy file, or a folder with some.
func isArrayPath(path string) bool {
	if !isFolder(path) {
		return strings.EqualFold(filepath.Ext(path), ".npy")
	}
	return len(filesOf(path, ".npy")) > 0
}

// filesOf returns the files in a folder with this ending, in order; none if there are folders that could be
// classes of images.
func filesOf(folder, ending string) (paths []string) {
	entries, _ := os.ReadDir(folder)
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		if isClassFolder(path) && partOfName(strings.ToLower(e.Name())) < 0 {
			return nil
		}
		if strings.EqualFold(filepath.Ext(path), ending) && !isHidden(e.Name()) {
			paths = append(paths, path)
		}
	}
	return paths
}

// readArrays reads a set from .npy files. Samples are read when they are needed if they take more than
// o.InMemory.
func readArrays(ctx context.Context, path string, o Options) (s Sets, err error) {
	files, err := findArrays(path)
	if err == nil {
		err = o.addArrays(path, &files[validationPart])
	}
	if err != nil {
		return s, err
	}
	if files[trainPart].samples == "" {
		scored := cmp.Or(files[testPart], files[validationPart])
		if !o.EvalOnly || scored.samples == "" {
			return s, folderFault(path, "name it train.npy, and train-labels.npy", "no array to train on")
		}
		files = [numParts]arrayFiles{testPart: scored}
	}
	classes, err := readClassNames(filepath.Join(filepath.Dir(files[trainPart].samples), "classes.txt"))
	if err != nil {
		return s, err
	}
	for i, to := range []**Set{trainPart: &s.Train, validationPart: &s.Validation, testPart: &s.Test} {
		if files[i].samples == "" {
			continue
		}
		if *to, err = readArray(files[i], o.Regression); err != nil {
			return s, err
		}
	}
	if s.Train == nil {
		s.Train = s.Test
	}
	if err := s.areAlike(); err != nil {
		return s, err
	}
	if o.Regression {
		err = s.nameTargets(path)
	} else {
		err = nameClasses(path, classes, o.EvalOnly, s.All())
	}
	if err != nil {
		return s, err
	}
	s.holdOut(o.EvalOnly)
	s.standardise(func(int) string { return "" })
	err = s.bringIntoMemory(ctx, o)
	return s, err
}

// areAlike returns an error if the samples of two parts differ in shape or type.
func (s Sets) areAlike() error {
	for _, set := range s.All() {
		if !set.Shape.Equal(s.Train.Shape) || set.IsFloat != s.Train.IsFloat {
			return &FormatError{File: set.Name, Offset: -1, Next: "write both in the same way",
				Reason: fmt.Sprintf("samples %v, floats %v; those of %s are %v, floats %v", set.Shape,
					set.IsFloat, s.Train.Name, s.Train.Shape, s.Train.IsFloat)}
		}
	}
	return nil
}

// addArrays puts the files of a validation part of its own, if o has one, in the place of the data's.
func (o Options) addArrays(path string, to *arrayFiles) error {
	own := ""
	if err := o.addValidation(path, to.samples != "", &own); err != nil || own == "" {
		return err
	}
	files, err := findArrays(own)
	*to = cmp.Or(files[validationPart], files[trainPart], files[testPart])
	return err
}

// findArrays returns the files of each part.
func findArrays(path string) (files [numParts]arrayFiles, err error) {
	if !isFolder(path) {
		stem := strings.TrimSuffix(path, filepath.Ext(path))
		for _, labels := range []string{stem + "-labels.npy", stem + "_labels.npy"} {
			if isFile(labels) {
				files[trainPart] = arrayFiles{path, labels}
				return files, nil
			}
		}
		return files, folderFault(path, "write the numbers of the classes, [N], there",
			"no labels: %s-labels.npy is not there", filepath.Base(stem))
	}
	found, err := os.ReadDir(path)
	if err != nil {
		return files, &ReadError{File: path, Err: err}
	}
	for _, e := range found {
		name := strings.ToLower(e.Name())
		stem, isArray := strings.CutSuffix(name, ".npy")
		if !isArray || isHidden(name) {
			continue
		}
		words := strings.FieldsFunc(stem, func(r rune) bool { return strings.ContainsRune("-_. ", r) })
		for i, names := range partNames() {
			if !slices.ContainsFunc(words, func(w string) bool { return slices.Contains(names, w) }) {
				continue
			}
			to := &files[i].samples
			if slices.ContainsFunc(words, isLabelWord) {
				to = &files[i].labels
			}
			if *to != "" {
				return files, folderFault(path, "keep one of them", "%s and %s are both of the %s part",
					filepath.Base(*to), e.Name(), names[0])
			}
			*to = filepath.Join(path, e.Name())
		}
	}
	for i, f := range files {
		if (f.samples == "") != (f.labels == "") {
			return files, folderFault(path, "add the other one",
				"of the %s part there is %s alone, want samples and labels",
				partNames()[i][0], filepath.Base(f.samples+f.labels))
		}
	}
	return files, nil
}

// isLabelWord reports whether a part of a file's name says that labels are in it.
func isLabelWord(word string) bool {
	return slices.Contains([]string{"label", "labels", "y", "target", "targets"}, word)
}

// readClassNames returns the lines of a file; none if there is no file.
func readClassNames(path string) ([]string, error) {
	text, err := regular.ReadFile(path, maxClasses*80)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, &ReadError{File: path, Err: err}
	}
	names := strings.Split(strings.TrimSpace(strings.ReplaceAll(string(text), "\r", "")), "\n")
	for i, name := range names {
		if before := slices.Index(names, name); before < i {
			return nil, &FormatError{File: path, Offset: -1, Line: i + 1,
				Reason: fmt.Sprintf("%.80q again, after line %d", name, before+1)}
		}
	}
	return names, nil
}

// readArray opens the files of one part, whose labels are targets or index no classes yet.
func readArray(files arrayFiles, areTargets bool) (*Set, error) {
	refuse := func(file, next, format string, args ...any) (*Set, error) {
		return nil, &FormatError{File: file, Offset: -1, Next: next, Reason: fmt.Sprintf(format, args...)}
	}
	a, err := openArray(files.samples)
	if err != nil {
		return nil, err
	}
	s := &Set{Name: files.samples, Source: files.samples, IsFloat: a.Kind == "f4", byNumber: true,
		Samples: &array{File: a, path: files.samples}}
	switch n := len(a.Shape); {
	case a.Kind != "u1" && a.Kind != "f4":
		return refuse(files.samples, "write it with .astype(numpy.float32)",
			"elements of type %s, want u1 or f4", a.Kind)
	case n == 2 && s.IsFloat:
		s.Shape = tensor.Shape{1, 1, a.Shape[1]}
	case n == 3:
		s.Shape = tensor.Shape{a.Shape[1], a.Shape[2], 1}
	case n == 4:
		s.Shape = tensor.Shape(a.Shape[1:])
	default:
		return refuse(files.samples, "reshape it", "shape %v, want [N, H, W, C], [N, H, W] or floats [N, D]",
			a.Shape)
	}
	if channels := s.Shape[2]; channels > maxChannels && len(a.Shape) == 4 && s.Shape[0] <= maxChannels {
		return refuse(files.samples, "write it with .transpose(0, 2, 3, 1)",
			"shape %v has %d channels last; it seems to have them first", a.Shape, channels)
	}
	if s.Shape[2] > maxChannels && !s.IsFloat {
		return refuse(files.samples, "write it with .astype(numpy.float32)", "%d channels of bytes, want at "+
			"most %d", s.Shape[2], maxChannels)
	}
	if a.Rows() == 0 || a.RowElems() == 0 {
		return refuse(files.samples, "write an array with samples", "shape %v has no elements", a.Shape)
	}
	if err := s.readLabels(files.labels, areTargets); err != nil {
		return nil, err
	}
	if s.Len() != a.Rows() {
		return refuse(files.labels, "give each sample one", "%d labels for %d samples", s.Len(), a.Rows())
	}
	s.normalizeAsUsual()
	return s, nil
}

// readLabels reads the labels of a part, which may be targets.
func (s *Set) readLabels(path string, areTargets bool) error {
	refuse := func(next string, err error) error {
		return &FormatError{File: path, Offset: -1, Reason: "labels", Next: next, Err: err}
	}
	a, err := openArray(path)
	if err != nil {
		return err
	}
	defer a.Close()
	if areTargets {
		s.NumTargets = a.RowElems()
		if s.Targets, err = a.Floats(); err != nil || s.NumTargets < 1 || s.NumTargets > table.MaxColumns {
			return refuse(fmt.Sprintf("give 1 to %d numbers for each sample", table.MaxColumns),
				cmp.Or(err, fmt.Errorf("shape %v", a.Shape)))
		}
		if i := slices.IndexFunc(s.Targets, func(x float32) bool { return !isFinite(x) }); i >= 0 {
			return refuse("leave the row out", fmt.Errorf("%v in row %d, want a finite number", s.Targets[i],
				i/s.NumTargets))
		}
		return nil
	}
	labels, err := a.Integers()
	if err != nil {
		return refuse("--task regression predicts numbers", err)
	}
	for i, label := range labels {
		if label < 0 || label >= maxClasses {
			return refuse("number classes from 0", fmt.Errorf("%d in row %d, want 0 to %d", label, i,
				maxClasses-1))
		}
		s.Labels = append(s.Labels, int32(label))
	}
	return nil
}

// nameTargets gives the parts their name, and refuses those with other numbers of targets than the first.
func (s *Sets) nameTargets(path string) error {
	for _, part := range s.All() {
		if part.NumTargets != s.Train.NumTargets {
			return &FormatError{File: part.Name, Offset: -1, Next: "give all parts the same",
				Reason: fmt.Sprintf("%d targets for each sample, want %d", part.NumTargets,
					s.Train.NumTargets)}
		}
		part.Name = path
	}
	return nil
}

// normalizeAsUsual sets the mean and deviation of images that nobody knows: ImageNet's of those in colour,
// and none of floats.
func (s *Set) normalizeAsUsual() {
	channels := s.Shape[2]
	s.Mean, s.Std = slices.Repeat([]float32{0}, channels), slices.Repeat([]float32{1}, channels)
	switch {
	case s.IsFloat:
	case channels == 3:
		s.Mean, s.Std = []float32{0.485, 0.456, 0.406}, []float32{0.229, 0.224, 0.225}
	default:
		s.Mean, s.Std = slices.Repeat([]float32{0.5}, channels), slices.Repeat([]float32{0.25}, channels)
	}
}

func openArray(path string) (*npy.File, error) {
	a, err := npy.Open(path)
	if disk := (*fs.PathError)(nil); errors.As(err, &disk) {
		return nil, &ReadError{File: path, Err: err}
	} else if err != nil {
		return nil, &FormatError{File: path, Offset: -1, Reason: "no array that can be read", Err: err}
	}
	return a, nil
}

// nameClasses gives sets the classes of these names or, without names, of the numbers up to the greatest of
// the first set or, if isScored, of all.
func nameClasses(path string, names []string, isScored bool, sets []*Set) error {
	if names == nil {
		named := sets[:1]
		if isScored {
			named = sets
		}
		greatest := int32(0)
		for _, s := range named {
			greatest = max(greatest, slices.Max(s.Labels))
		}
		for i := range greatest + 1 {
			names = append(names, strconv.Itoa(int(i)))
		}
	}
	for _, s := range sets {
		for i, label := range s.Labels {
			if int(label) >= len(names) {
				return &FormatError{File: s.Name, Offset: -1,
					Next: "correct the labels, or name all classes in classes.txt",
					Reason: fmt.Sprintf("sample %d has label %d, want 0 to %d", i, label,
						len(names)-1)}
			}
		}
		s.Name, s.Classes = path, names
	}
	return nil
}

// holdOut takes a tenth of each class out of the training set, by the numbers of samples, unless there is
// something to score or isScored, when all is scored.
func (s *Sets) holdOut(isScored bool) {
	switch {
	case s.Scored() != nil:
		return
	case isScored:
		s.Test = s.Train
		return
	}
	hashes := make([]uint64, s.Train.Len())
	for i := range hashes {
		hashes[i] = textHash(strconv.Itoa(i))
	}
	var rest, taken []int32
	for i, isHeld := range heldOut(s.Train.strata(), hashes) {
		if isHeld {
			taken = append(taken, int32(i))
		} else {
			rest = append(rest, int32(i))
		}
	}
	s.Train, s.Test, s.IsHeldOut = s.Train.Pick(rest), s.Train.Pick(taken), true
}

// bringIntoMemory reads the samples of the sets, none of which is in memory, if they take no more than
// o.InMemory. That changes no sample and no order.
func (s *Sets) bringIntoMemory(ctx context.Context, o Options) error {
	sets, together := slices.Compact(s.All()), int64(0) // one part alone may be two of them
	for _, set := range sets {
		together += int64(set.Len()) * int64(set.SampleBytes())
	}
	if together > cmp.Or(o.InMemory, defaultInMemory) {
		return nil
	}
	for _, set := range sets {
		pixels := make([]byte, set.Len()*set.SampleBytes())
		if err := readAll(ctx, set.Samples, pixels, set.Len()); err != nil {
			return err
		}
		set.Pixels, set.Samples = pixels, nil
	}
	return nil
}

// array is the Source of an .npy file.
type array struct {
	*npy.File
	path string
}

func (a *array) Len() int { return a.Rows() }

func (a *array) IsSlow() bool { return false }

// ReadSample reads a row. A float that is not finite is an error.
func (a *array) ReadSample(dst []byte, sample int) error {
	if err := a.ReadRows(dst, sample); err != nil {
		return readArrayError(err, a.path)
	}
	if a.Kind != "f4" {
		return nil
	}
	for i := 0; i < len(dst); i += 4 {
		if x := math.Float32frombits(binary.LittleEndian.Uint32(dst[i:])); !isFinite(x) {
			return &FormatError{File: a.path, Offset: -1, Next: "replace it, or leave the row out",
				Reason: fmt.Sprintf("row %d has %v at place %d", sample, x, i/4)}
		}
	}
	return nil
}

func readArrayError(err error, path string) error {
	if disk := (*fs.PathError)(nil); errors.As(err, &disk) {
		return &ReadError{File: path, Err: err}
	}
	return &FormatError{File: path, Offset: -1, Reason: "damaged array", Err: err}
}

// digestSamples is how many samples of a Source its Digest has.
const digestSamples = 256

// Digest hashes the shape and some rows, evenly spaced.
func (a *array) Digest() string {
	h := sha256.New()
	fmt.Fprintf(h, "%s %v", a.Kind, a.Shape)
	row := make([]byte, a.RowElems()*a.ElemBytes())
	for i := range min(a.Len(), digestSamples) {
		n := i * a.Len() / min(a.Len(), digestSamples)
		if err := a.ReadRows(row, n); err != nil {
			fmt.Fprint(h, err) // which training will tell
		}
		h.Write(row)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}
