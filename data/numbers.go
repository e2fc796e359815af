package data

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"lockstep/data/table"
	"lockstep/internal/spelling"
	"lockstep/tensor"
)

// Note: tables of numbers
//
// A CSV, TSV or JSONL file with a column of labels and none of texts is a table: every other column is a
// feature, and package table says what it means to a network, by the training samples or as the weights have
// it. Columns are found by name in each file. Files are read several times: to see which columns are numbers
// and find the labels, to measure the training samples, and to write all samples, in memory or, if they take
// more than Options.InMemory, in a temporary file. Rows of a small file are kept between.

// heldTables is the part of Options.InMemory, one of so many, that a file may have whose rows are kept as
// text.
const heldTables = 8

// numberReader reads the files of a set's parts.
type numberReader struct {
	options Options
	labels  *textReader    // of which only labels and weights are used
	weight  string         // the name of the column of weights; "": there is none
	measure *table.Measure // nil: the table is known
	names   []string       // of the features, as the first file has them
	table   *table.Table   // nil before it is known
	unused  []string       // columns that the table has not
	unknown map[string]int // values that training samples have not, by column
}

// tablePart is the rows of a file, or some of them.
type tablePart struct {
	path   string
	set    *Set
	at     []int      // where features are
	rows   [][]string // features; nil: they are read from the file again
	hashes []uint64   // of rows, if they are to be split
	held   []bool     // which rows of the file were taken for the test; nil: all are this part's
	isHeld bool       // this part's are those
	length int        // rows of the file
}

// readNumbers reads a set from tables.
func readNumbers(ctx context.Context, name string, files partPaths, o Options) (s Sets, err error) {
	r := &numberReader{options: o, table: o.Table, unknown: map[string]int{},
		labels: &textReader{name: name, options: o, labelColumn: o.LabelColumn, weightColumn: o.WeightColumn}}
	if s.LeftOut, err = r.labels.leaveUnlabelled(ctx, &files); err != nil {
		return Sets{}, err
	}
	isAlone := files[validationPart] == "" && files[testPart] == ""
	first, err := r.read(ctx, name, files[trainPart], isAlone && !o.EvalOnly)
	if err != nil {
		return Sets{}, err
	}
	s.Train, r.labels.weightColumn = first.set, ""
	parts := []*tablePart{first}
	if !o.EvalOnly {
		if err := r.labels.areClasses(s.Train); err != nil {
			return Sets{}, err
		}
		r.labels.sortClasses(s.Train)
		if isAlone {
			parts, s.IsHeldOut = first.split(), true
		}
	}
	if r.table == nil {
		if err := r.find(ctx, parts[0], isAlone); err != nil {
			return Sets{}, err
		}
	}
	s.Train = parts[0].set
	if len(parts) > 1 {
		s.Test = parts[1].set
	}
	for i, to := range []**Set{validationPart: &s.Validation, testPart: &s.Test} {
		if to == nil || files[i] == "" {
			continue
		}
		part, err := r.read(ctx, name, files[i], false)
		if err != nil {
			return Sets{}, err
		}
		*to, parts = part.set, append(parts, part)
	}
	r.labels.sortClasses(s.All()...)
	s.standardise(func(int) string { return r.table.Label })
	if err := r.fill(ctx, parts); err != nil {
		return Sets{}, err
	}
	if isAlone && o.EvalOnly {
		s.Test = s.Train
	}
	s.Understood = r.described()
	for _, name := range r.unused {
		s.LeftOut = strings.TrimPrefix(s.LeftOut+", column "+plainName(name), ", ")
	}
	return s, nil
}

// read reads a file's labels for the first time, and its rows, which it hashes if they are to be split.
func (r *numberReader) read(ctx context.Context, name, path string, isSplit bool) (*tablePart, error) {
	file, err := OpenRows(ctx, path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	p := &tablePart{path: path, set: &Set{Name: name, Source: path, IsFloat: true,
		NumTargets: r.options.numTargets()}}
	at, err := r.places(p, file.Header())
	if err == nil && isPlace(r.labels.labelColumn) && !file.records.isJSON {
		err = wantNames(file.Header(), path)
	}
	if err != nil {
		return nil, err
	}
	used := append(slices.Clone(p.at), at.label, at.weight)
	isKept := file.size <= cmp.Or(r.options.InMemory, defaultInMemory)/heldTables
	row, scratch, place := make([]string, len(p.at)), []float32(nil), 0
	where := func() string { return fmt.Sprintf("line %d of %s", place, path) }
	for {
		fields, line, err := file.Next()
		if err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		place = line
		err = file.records.areValues(line, used...)
		if err == nil {
			err = r.labels.note(p.set, at.of(fields), path, line)
		}
		if err != nil {
			return nil, err
		}
		p.take(row, fields)
		if r.table != nil {
			scratch, err = r.table.Append(scratch[:0], row)
			for _, column := range r.table.Unknown(row) {
				r.unknown[column]++
			}
		} else {
			r.measure.See(row, where)
		}
		if err != nil {
			return nil, &FormatError{File: path, Offset: -1, Line: line, Reason: err.Error()}
		}
		if isSplit {
			p.hashes = append(p.hashes, textHash(row...))
		}
		if isKept {
			p.rows = append(p.rows, cloned(row))
		}
		p.length++
	}
	if p.length == 0 {
		return nil, noRecord(path)
	}
	return p, nil
}

// cloned returns a copy of a row's texts.
func cloned(row []string) []string {
	own := make([]string, len(row))
	for i, text := range row {
		own[i] = strings.Clone(text)
	}
	return own
}

// places finds the columns of a file: those of the table or, if this is the first file and there is none, all
// with a name but those of labels and weights, which it returns. A column without a name has the numbers of
// rows that other programs write.
func (r *numberReader) places(p *tablePart, header []string) (at columns, err error) {
	at = columns{text: -1, pair: -1, weight: -1}
	at.label, _, err = column(header, p.path, "label", r.labels.labelColumn, labelNames()...)
	if name := r.labels.weightColumn; err == nil && name != "" {
		at.weight, _, err = column(header, p.path, "weight", name)
	}
	if err == nil {
		err = at.check(p.path)
	}
	if err != nil {
		return at, err
	}
	if at.weight >= 0 {
		r.weight = strings.TrimSpace(header[at.weight])
	}
	label := strings.TrimSpace(header[at.label])
	known := r.table
	if known == nil {
		for i, name := range header {
			if i != at.label && i != at.weight && strings.TrimSpace(name) != "" {
				r.names = append(r.names, strings.TrimSpace(name))
			}
		}
		r.measure = table.NewMeasure(r.names, label)
		known = r.measured()
		if len(r.names) == 0 {
			return at, &FormatError{File: p.path, Offset: -1, Line: 1,
				Reason: "no column beside that of the labels"}
		}
	}
	places, unused, err := known.Places(header)
	if err != nil {
		return at, &FormatError{File: p.path, Offset: -1, Line: 1, Reason: err.Error()}
	}
	for _, name := range unused {
		isWeight := name == r.weight && name != "" // a column may have no name
		if name != label && !isWeight && !slices.Contains(r.unused, name) {
			r.unused = append(r.unused, strings.Clone(name))
		}
	}
	p.at = places
	return at, nil
}

// measured returns the table as far as it is measured.
func (r *numberReader) measured() *table.Table {
	t := r.measure.Table()
	t.Weight = strings.Clone(r.weight)
	return t
}

// wantNames returns an error if a column has a number for a name: where the labels' is known by its number
// alone, the first line then seems to be a row.
func wantNames(header []string, path string) error {
	for i, name := range header {
		if _, err := strconv.ParseFloat(strings.TrimSpace(name), 64); err == nil {
			return &FormatError{File: path, Offset: -1, Line: 1, Reason: fmt.Sprintf(
				"column %d is called %.40q, but a table begins with a line of names", i+1, name),
				Next: "add that line or, if this is it, give --label-column its name for the labels"}
		}
	}
	return nil
}

// take writes the features among a record's fields to row.
func (p *tablePart) take(row, fields []string) {
	for k, c := range p.at {
		row[k] = strings.TrimSpace(fields[c])
	}
}

// each calls visit for each row of the part, whose fields are valid during the call.
func (p *tablePart) each(ctx context.Context, visit func(row []string) error) error {
	isMine := func(i int) bool { return p.held == nil || p.held[i] == p.isHeld }
	for i, row := range p.rows {
		if !isMine(i) {
			continue
		}
		if err := visit(row); err != nil {
			return err
		}
	}
	if p.rows != nil {
		return ctx.Err()
	}
	file, err := OpenRows(ctx, p.path)
	if err != nil {
		return err
	}
	defer file.Close()
	row := make([]string, len(p.at))
	for i := 0; ; i++ {
		fields, _, err := file.Next()
		switch {
		case err == io.EOF && i == p.length:
			return nil
		case err == io.EOF, err == nil && (i == p.length || len(fields) <= slices.Max(p.at)):
			return changed(p.path)
		case err != nil:
			return err
		}
		if !isMine(i) {
			continue
		}
		p.take(row, fields)
		if err := visit(row); err != nil {
			return err
		}
	}
}

// split returns the rows that are not held out for the test and those that are, if there are any.
func (p *tablePart) split() []*tablePart {
	p.held = heldOut(p.set.strata(), p.hashes)
	parts := []*tablePart{}
	for _, isHeld := range []bool{false, true} {
		var mine []int32
		for i := range p.held {
			if p.held[i] == isHeld {
				mine = append(mine, int32(i))
			}
		}
		if part, set := *p, p.set.said(mine); len(mine) > 0 {
			part.isHeld, part.set, part.hashes = isHeld, &set, nil
			parts = append(parts, &part)
		}
	}
	return parts
}

// find measures the training samples. It refuses to score a file alone if what its values mean depends on
// them.
func (r *numberReader) find(ctx context.Context, p *tablePart, isAlone bool) error {
	err := p.each(ctx, r.measure.Count)
	if err == nil {
		err = p.each(ctx, func(row []string) error { r.measure.Spread(row); return nil })
	}
	if bad := (*table.ValueError)(nil); errors.As(err, &bad) {
		return &FormatError{File: p.path, Offset: -1, Reason: bad.Error(),
			Next: "correct the numbers, leave the column out, or name that of texts with --text-column"}
	}
	if err != nil {
		return err
	}
	r.table = r.measured()
	for _, c := range r.table.Columns {
		if isAlone && r.options.EvalOnly && (!c.IsNumber || c.IsMarked) {
			return &FormatError{File: p.path, Offset: -1, Next: "name weights that say, or score a folder " +
				"with train.csv and test.csv", Reason: fmt.Sprintf("column %.80q has categories or missing "+
				"values, which the training file explains", c.Name)}
		}
	}
	if err := r.table.Check(); err != nil {
		return &FormatError{File: p.path, Offset: -1, Reason: err.Error()}
	}
	return nil
}

// fill writes the samples of all parts.
func (r *numberReader) fill(ctx context.Context, parts []*tablePart) error {
	channels, samples := r.table.Channels(), 0
	for _, p := range parts {
		samples += p.set.Len()
	}
	isInMemory := int64(samples)*4*int64(channels) <= cmp.Or(r.options.InMemory, defaultInMemory)
	for _, p := range parts {
		s := p.set
		s.Classes, s.Table = r.labels.labels, r.table
		s.Shape = tensor.Shape{1, 1, channels}
		s.Mean, s.Std = r.table.Scale()
		var kept *spool
		var err error
		if isInMemory {
			s.Pixels = make([]byte, 0, s.Len()*s.SampleBytes())
		} else if kept, err = r.options.newSpool(s.SampleBytes()); err != nil {
			return err
		}
		var values []float32
		sample := make([]byte, 0, s.SampleBytes())
		err = p.each(ctx, func(row []string) (err error) {
			if values, err = r.table.Append(values[:0], row); err != nil {
				return changed(p.path)
			}
			if kept == nil {
				s.Pixels = appendFloats(s.Pixels, values)
				return nil
			}
			sample = appendFloats(sample[:0], values)
			return kept.write(sample)
		})
		if err == nil && kept != nil {
			s.Samples, err = kept, kept.end()
		}
		if err != nil {
			return err
		}
		p.rows = nil
	}
	return nil
}

// appendFloats appends numbers as a set of floats has them.
func appendFloats(to []byte, values []float32) []byte {
	for _, x := range values {
		to = binary.LittleEndian.AppendUint32(to, math.Float32bits(x))
	}
	return to
}

// described says which columns are categories, where values are missing, and where they are unknown.
func (r *numberReader) described() string {
	var notes []string
	for i, c := range r.table.Columns {
		if !c.IsNumber {
			notes = append(notes, fmt.Sprintf("%s is a category of %s", plainName(c.Name),
				spelling.Count(len(c.Categories), "value")))
		}
		if c.IsNumber && float64(c.Std) < math.Abs(float64(c.Mean))/(1<<20) { // steps of float32: 2^-24
			notes = append(notes, fmt.Sprintf("%s varies too little about %.4g for float32, so subtract that",
				plainName(c.Name), c.Mean))
		}
		if r.measure != nil && r.measure.Missing()[i] > 0 {
			notes = append(notes, fmt.Sprintf("%s is missing in %s", plainName(c.Name),
				spelling.Count(r.measure.Missing()[i], "training sample")))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.unknown)) {
		notes = append(notes, fmt.Sprintf("%s has a value that training samples have not in %s",
			plainName(name), spelling.Count(r.unknown[name], "sample")))
	}
	const most = 8
	if more := len(notes) - most; more > 0 {
		notes = append(notes[:most], fmt.Sprintf("%d more such notes", more))
	}
	of := spelling.Count(len(r.table.Columns), "column")
	if r.measure == nil {
		of += " as the weights have them"
	}
	return strings.Join(append([]string{of}, notes...), ", ")
}
