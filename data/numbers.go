package data

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"lockstep/internal/regular"
	"lockstep/internal/spelling"
	"lockstep/tensor"
)

// Note: tables of numbers
//
// A CSV or TSV file with a column of labels and none of texts is a table: every other column is a feature. A
// column in which all values are numbers is one channel; any other is a category, with a channel for each of
// its values, which is 1 where the sample has it. Columns are those of the training file, found by name in
// the others. A missing value (nothing, ?, NA, N/A, NaN or null) becomes the mean of the training samples,
// and if training samples miss some, one more channel is 1 where they do; a missing category has no 1.
// Numbers are normalised by mean and deviation of the training samples, which are kept with the weights;
// channels of 0 and 1 stay so.

// maxCategories bounds the values of a column that is no number.
const maxCategories = 256

// feature is a column of a table.
type feature struct {
	name       string
	isNumber   bool
	fault      string   // where the first value is that is no number
	categories []string // the values of a column that is no number, in order
	mean, std  float64  // of numbers in training samples
	missing    int      // training samples without a value
}

// channels returns how many channels the feature takes.
func (f *feature) channels() int {
	switch {
	case !f.isNumber:
		return len(f.categories)
	case f.missing > 0:
		return 2
	}
	return 1
}

// table of values as they are in a file: a field for each feature and sample.
type numberTable struct {
	features []feature
	labels   *textReader // of which only the labels are used
}

// row is a sample of a table as it is read.
type tableRow []string

// isNumberPath reports whether the files of the parts are tables: the first has a column of labels, and none
// of texts.
func isNumberPath(files partPaths, o Options) bool {
	path := files[trainPart]
	if path == "" || o.TextColumn != "" || o.PairColumn != "" || len(o.Shape) == 1 {
		return false
	}
	file, err := regular.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	first, _, err := newRecordReader(file, path).next()
	if err != nil || slices.ContainsFunc(first, func(f string) bool { return isOneOf(f, textNames()) }) {
		return false
	}
	_, isNamed, err := column(first, path, "label", o.LabelColumn, labelNames()...)
	return err == nil && isNamed
}

// readNumbers reads a set from tables.
func readNumbers(ctx context.Context, name string, files partPaths, o Options) (s Sets, err error) {
	t := &numberTable{labels: &textReader{name: name, labelColumn: o.LabelColumn}}
	var rows [numParts][]tableRow
	for i, to := range []**Set{trainPart: &s.Train, validationPart: &s.Validation, testPart: &s.Test} {
		if files[i] == "" {
			continue
		}
		*to = &Set{Name: name, Source: files[i], IsFloat: true}
		if rows[i], err = t.read(ctx, files[i], *to); err != nil {
			return Sets{}, err
		}
		if i == trainPart && !o.EvalOnly {
			t.labels.sortClasses(s.Train)
		}
	}
	t.labels.sortClasses(s.All()...)
	for _, set := range s.All() {
		set.Classes = t.labels.labels
	}
	if s.Scored() == nil && !o.EvalOnly {
		s.IsHeldOut = true
		var held []bool
		s.Train, s.Test, held = s.Train.splitTable(rows[trainPart])
		all := rows[trainPart]
		rows[trainPart] = nil
		for i, isHeld := range held {
			to := trainPart
			if isHeld {
				to = testPart
			}
			rows[to] = append(rows[to], all[i])
		}
	}
	if err := t.measure(rows[trainPart], files[trainPart]); err != nil {
		return Sets{}, err
	}
	if s.Scored() == nil && o.EvalOnly {
		if err := t.needsTraining(files[trainPart]); err != nil {
			return Sets{}, err
		}
	}
	for i, set := range []*Set{trainPart: s.Train, validationPart: s.Validation, testPart: s.Test} {
		if set != nil {
			t.fill(set, rows[i])
		}
	}
	if s.Scored() == nil && o.EvalOnly {
		s.Test = s.Train
	}
	s.Columns = t.described()
	return s, nil
}

// needsTraining refuses to score a file alone if what its values mean depends on the training samples.
func (t *numberTable) needsTraining(path string) error {
	for _, f := range t.features {
		if !f.isNumber || f.missing > 0 {
			return &FormatError{File: path, Offset: -1, Next: "score a folder with train.csv and test.csv",
				Reason: fmt.Sprintf("column %.80q has categories or missing values, which the training file "+
					"explains", f.name)}
		}
	}
	return nil
}

// splitTable returns the labels that are not held out for the test, those that are, and which they are.
func (s *Set) splitTable(rows []tableRow) (rest, taken *Set, held []bool) {
	hashes := make([]uint64, len(rows))
	for i, r := range rows {
		hashes[i] = textHash(r...)
	}
	held = heldOut(s.Labels, hashes)
	one, other := *s, *s
	one.Labels, other.Labels = nil, nil
	for i, isHeld := range held {
		to := &one
		if isHeld {
			to = &other
		}
		to.Labels = append(to.Labels, s.Labels[i])
	}
	if len(other.Labels) == 0 {
		return &one, nil, held
	}
	return &one, &other, held
}

// read returns the values of a file's features, in the order of the training file's, and adds its labels to
// s.
func (t *numberTable) read(ctx context.Context, path string, s *Set) (rows []tableRow, err error) {
	file, err := regular.Open(path)
	if err != nil {
		return nil, &ReadError{File: path, Err: err}
	}
	defer file.Close()
	r := newRecordReader(&contextReader{ctx, file}, path)
	header, _, err := r.next()
	if err == io.EOF {
		return nil, &FormatError{File: path, Offset: 0, Reason: "empty"}
	} else if err != nil {
		return nil, err
	}
	label, _, err := column(header, path, "label", t.labels.labelColumn, labelNames()...)
	if err != nil {
		return nil, err
	}
	isFirst := t.features == nil
	at, err := t.columns(header, label, path)
	if err != nil {
		return nil, err
	}
	for {
		fields, line, err := r.next()
		if err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		class, err := t.labels.class(strings.TrimSpace(fields[label]), path, line)
		if err != nil {
			return nil, err
		}
		s.Labels = append(s.Labels, int32(class))
		row := make(tableRow, len(at))
		for k, c := range at {
			row[k] = strings.Clone(strings.TrimSpace(fields[c]))
			if err := t.features[k].see(row[k], path, line, isFirst); err != nil {
				return nil, err
			}
		}
		rows = append(rows, row)
	}
	if rows == nil {
		return nil, &FormatError{File: path, Offset: -1, Reason: "no record behind the header line"}
	}
	return rows, nil
}

// columns returns where the features are in a file with this header. The first file says which there are.
func (t *numberTable) columns(header []string, label int, path string) (at []int, err error) {
	refuse := func(format string, args ...any) ([]int, error) {
		return nil, &FormatError{File: path, Offset: -1, Line: 1, Reason: fmt.Sprintf(format, args...)}
	}
	isFirst := t.features == nil
	places := map[string]int{}
	for c, name := range header {
		name = strings.TrimSpace(name)
		if before, isTwice := places[name]; isTwice {
			return refuse("columns %d and %d are both called %.80q", before+1, c+1, name)
		}
		places[name] = c
		if isFirst && c != label {
			t.features = append(t.features, feature{name: strings.Clone(name), isNumber: true})
		}
	}
	if len(t.features) == 0 {
		return refuse("no column beside that of the labels")
	}
	for _, f := range t.features {
		c, isThere := places[f.name]
		if !isThere {
			return refuse("no column %.80q, which the training file has", f.name)
		}
		at = append(at, c)
	}
	return at, nil
}

// isMissing reports whether a field has no value.
func isMissing(text string) bool {
	return text == "" || text == "?" || slices.ContainsFunc([]string{"na", "n/a", "nan", "null"},
		func(name string) bool { return strings.EqualFold(text, name) })
}

// see lets the feature know a value of a file. The first file says whether the feature is a number.
func (f *feature) see(text, path string, line int, isFirst bool) error {
	if isMissing(text) {
		return nil
	}
	x, err := strconv.ParseFloat(text, 64)
	if err == nil && math.Abs(x) > math.MaxFloat32 {
		return &FormatError{File: path, Offset: -1, Line: line,
			Reason: fmt.Sprintf("%.40s in column %.80q, want a finite number", text, f.name)}
	}
	if err != nil && f.isNumber && !isFirst {
		return &FormatError{File: path, Offset: -1, Line: line,
			Reason: fmt.Sprintf("%.40q in column %.80q, want a number as in the training file", text, f.name)}
	}
	if err != nil && f.isNumber {
		f.isNumber, f.fault = false, fmt.Sprintf("%.40q in line %d of %s", text, line, path)
	}
	return nil
}

// measure finds categories, means and deviations in the training samples.
func (t *numberTable) measure(rows []tableRow, path string) error {
	for k := range t.features {
		f := &t.features[k]
		seen := map[string]bool{}
		n, sum, squares := 0.0, 0.0, 0.0
		for _, row := range rows {
			switch text := row[k]; {
			case isMissing(text):
				f.missing++
			case f.isNumber:
				x, _ := strconv.ParseFloat(text, 64)
				n, sum = n+1, sum+x
			case !seen[text]:
				seen[text] = true
				f.categories = append(f.categories, text)
			}
		}
		if len(f.categories) > maxCategories {
			return &FormatError{File: path, Offset: -1,
				Next: "correct the numbers, leave the column out, or name that of texts with --text-column",
				Reason: fmt.Sprintf("column %.80q has %d values that are not all numbers, the first %s; "+
					"want at most %d categories", f.name, len(f.categories), f.fault, maxCategories)}
		}
		slices.Sort(f.categories)
		f.mean = sum / max(n, 1)
		for _, row := range rows {
			if f.isNumber && !isMissing(row[k]) {
				x, _ := strconv.ParseFloat(row[k], 64)
				squares += float64((x - f.mean) * (x - f.mean))
			}
		}
		if f.std = math.Sqrt(squares / max(n, 1)); float32(f.std) == 0 {
			f.std = 1
		}
	}
	return nil
}

// fill writes the samples of a set.
func (t *numberTable) fill(s *Set, rows []tableRow) {
	s.Mean, s.Std = nil, nil
	for _, f := range t.features {
		for c := range f.channels() {
			mean, std := float32(0), float32(1)
			if f.isNumber && c == 0 {
				mean, std = float32(f.mean), float32(f.std)
			}
			s.Mean, s.Std = append(s.Mean, mean), append(s.Std, std)
		}
	}
	s.Shape, s.Pixels = tensor.Shape{1, 1, len(s.Mean)}, nil
	for _, row := range rows {
		for k, f := range t.features {
			s.Pixels = f.append(s.Pixels, row[k])
		}
	}
}

// append appends the channels of one value.
func (f *feature) append(to []byte, text string) []byte {
	put := func(x float32) { to = binary.LittleEndian.AppendUint32(to, math.Float32bits(x)) }
	one := func(is bool) {
		if is {
			put(1)
		} else {
			put(0)
		}
	}
	if !f.isNumber {
		for _, c := range f.categories {
			one(c == text)
		}
		return to
	}
	x, err := strconv.ParseFloat(text, 64)
	if isMissing(text) || err != nil {
		x = float64(float32(f.mean))
	}
	put(float32(x))
	if f.missing > 0 {
		one(isMissing(text))
	}
	return to
}

// described says which columns are categories, and where values are missing.
func (t *numberTable) described() string {
	var notes []string
	for _, f := range t.features {
		if !f.isNumber {
			notes = append(notes, fmt.Sprintf("%s is a category of %s", plainName(f.name),
				spelling.Count(len(f.categories), "value")))
		}
		if f.missing > 0 {
			notes = append(notes, fmt.Sprintf("%s is missing in %s", plainName(f.name),
				spelling.Count(f.missing, "training sample")))
		}
	}
	const most = 8
	if more := len(notes) - most; more > 0 {
		notes = append(notes[:most], fmt.Sprintf("%d more such notes", more))
	}
	return strings.Join(append([]string{spelling.Count(len(t.features), "column")}, notes...), ", ")
}
