package data

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"lockstep/data/wordpiece"
	"lockstep/internal/regular"
	"lockstep/tensor"
)

const (
	// defaultMaxTokens is the number of positions of the BERT models.
	defaultMaxTokens = 512
	// maxClasses bounds the classes of a set. One of texts has fewer: a column of other things than labels
	// is soon told from them.
	maxClasses     = 1 << 16
	maxTextClasses = 1 << 10
)

// textReader converts files of records to sets of texts that share vocabulary and classes.
type textReader struct {
	name                    string
	tokenizer               *wordpiece.Tokenizer
	maxTokens               int
	textColumn, labelColumn string // names, or numbers from 1; "" means a usual name
	pairColumn              string // likewise of the second text; "" means none
	weightColumn            string // likewise of weights, of the training file alone; "" means none
	isUnlabelled            bool   // there may be no column of labels, and none is read

	labels  []string // as in the files; the index is the class
	isFixed bool     // a label not among labels is an error
	named   string   // the column of labels, "" if it has a number alone

	options Options    // where tokens go, and how many stay in memory
	store   tokenStore // of the file that is read
	scratch []int32
}

func newTextReader(name string, o Options) (*textReader, error) {
	tokenizer, err := o.vocabulary(name)
	if err != nil {
		return nil, err
	}
	t := &textReader{name: name, options: o, tokenizer: tokenizer,
		maxTokens:  sizeOr(o.MaxTokens, defaultMaxTokens),
		textColumn: o.TextColumn, labelColumn: o.LabelColumn, pairColumn: o.PairColumn,
		weightColumn: o.WeightColumn}
	if t.maxTokens < 3 {
		return nil, fmt.Errorf("data: %s: texts of %d tokens, want at least 3", name, t.maxTokens)
	}
	return t, nil
}

// newSet returns an empty set for texts from source.
func (t *textReader) newSet(source string) *Set {
	return &Set{Name: t.name, Source: source, NumTargets: t.options.numTargets(),
		Texts: &Texts{Vocabulary: t.tokenizer.Len(), Tokenizer: t.tokenizer}}
}

// read returns the records of a file as a set, and a hash of each that tells different texts apart.
func (t *textReader) read(ctx context.Context, path string) (s *Set, hashes []uint64, err error) {
	s, t.store = t.newSet(path), tokenStore{options: t.options}
	err = t.each(ctx, path, func(r record, line int) error {
		hashes = append(hashes, textHash(r.text, r.pair))
		return t.add(s, r, path, line)
	})
	if err == nil && s.Len() == 0 {
		err = noRecord(path)
	}
	if err == nil {
		s.Texts.Tokens, s.Texts.stored, err = t.store.end()
	}
	return s, hashes, err
}

func noRecord(path string) error {
	return &FormatError{File: path, Offset: -1, Reason: "no record behind the header line"}
}

// each calls visit for each record of a file, with the number of its first line.
func (t *textReader) each(ctx context.Context, path string, visit func(r record, line int) error) error {
	file, err := regular.Open(path)
	if err != nil {
		return &ReadError{File: path, Err: err}
	}
	defer file.Close()
	r := newRecordReader(&contextReader{ctx, file}, path)
	fields, line, err := r.next()
	if err == io.EOF {
		return &FormatError{File: path, Offset: 0, Reason: "empty"}
	} else if err != nil {
		return err
	}
	at, isHeader, err := t.columns(fields, path)
	if err != nil {
		return err
	}
	isHeader = isHeader || r.isJSON
	for ; err == nil; fields, line, err = r.next() {
		if isHeader {
			isHeader = false
			continue
		}
		if err := r.areValues(line, at.text, at.label, at.pair); err != nil {
			return err
		}
		if err := visit(at.of(fields), line); err != nil {
			return err
		}
	}
	if err == io.EOF {
		return nil
	}
	return err
}

// add appends one sample to s.
func (t *textReader) add(s *Set, r record, path string, line int) error {
	if err := t.note(s, r, path, line); err != nil {
		return err
	}
	isCut := false
	if t.pairColumn != "" {
		split := 0
		t.scratch, split, isCut = t.tokenizer.EncodePair(t.scratch[:0], r.text, r.pair, t.maxTokens)
		s.Texts.Splits = append(s.Texts.Splits, int32(split))
	} else {
		t.scratch, isCut = t.tokenizer.Encode(t.scratch[:0], r.text, t.maxTokens)
	}
	if isCut {
		s.Texts.Cut = append(s.Texts.Cut, len(s.Texts.Ends))
	}
	s.Texts.Ends = append(s.Texts.Ends, t.store.len()+len(t.scratch))
	return t.store.add(t.scratch)
}

// class returns the class that a label names, which may be a new one.
func (t *textReader) class(label, path string, line int) (int, error) {
	class := slices.Index(t.labels, label)
	if class < 0 {
		reason, next := "", ""
		switch {
		case t.isFixed:
			reason = fmt.Sprintf("label %.80q, want one of %s", label, strings.Join(t.labels, ", "))
		case len(t.labels) == maxTextClasses:
			reason = fmt.Sprintf("label %.80q is one more than the %d classes there can be", label,
				maxTextClasses)
			next = "--task regression predicts numbers; else name another column by --label-column"
		case label == "":
			reason = "no label"
		}
		if reason != "" {
			return 0, &FormatError{File: path, Offset: -1, Line: line, Reason: reason, Next: next}
		}
		class = len(t.labels)
		t.labels = append(t.labels, strings.Clone(label))
	}
	return class, nil
}

// record is what is read of one record of a file.
type record struct{ text, pair, label, weight string }

// columns are the places of a record's fields.
type columns struct {
	text, label, pair, weight int // pair is of the second text; -1 if there is none
}

// of returns the fields that are read.
func (c columns) of(fields []string) record {
	r := record{}
	if c.text >= 0 {
		r.text = fields[c.text]
	}
	if c.label >= 0 {
		r.label = strings.TrimSpace(fields[c.label])
	}
	if c.pair >= 0 {
		r.pair = fields[c.pair]
	}
	if c.weight >= 0 {
		r.weight = fields[c.weight]
	}
	return r
}

// columns finds the columns of texts and label from the first record, and reports whether that is a
// header: it is, unless all columns are given by number and their fields have no usual names.
func (t *textReader) columns(first []string, path string) (at columns, isHeader bool, err error) {
	at.pair, at.weight = -1, -1
	at.text, isHeader, err = column(first, path, "text", t.textColumn, textNames()...)
	if err != nil {
		return at, false, err
	}
	if t.pairColumn != "" {
		isNamed := false
		if at.pair, isNamed, err = column(first, path, "pair", t.pairColumn); err != nil {
			return at, false, err
		}
		isHeader = isHeader || isNamed
	}
	if t.weightColumn != "" {
		isNamed := false
		if at.weight, isNamed, err = column(first, path, "weight", t.weightColumn); err != nil {
			return at, false, err
		}
		isHeader = isHeader || isNamed
	}
	isNamed := false
	at.label, isNamed, err = column(first, path, "label", t.labelColumn, labelNames()...)
	if t.isUnlabelled && (err != nil || at.label == at.text || at.label == at.pair) {
		at.label, isNamed, err = -1, isNamed || t.labelColumn != "" && !isPlace(t.labelColumn), nil
	} else if err != nil {
		return at, false, err
	}
	isHeader = isHeader || isNamed || isOneOf(first[at.text], textNames()) &&
		(at.label < 0 || isOneOf(first[at.label], labelNames()))
	if isHeader && at.label >= 0 {
		t.named = strings.TrimSpace(first[at.label])
	}
	return at, isHeader, at.check(path)
}

// textNames and labelNames list the usual names of columns.
func textNames() []string  { return []string{"text", "sentence", "content", "review"} }
func labelNames() []string { return []string{"label", "class", "target"} }

// isOneOf reports whether a field of a header is one of names.
func isOneOf(field string, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return strings.EqualFold(strings.TrimSpace(field), name)
	})
}

// check fails if two roles have the same column.
func (c columns) check(path string) error {
	for _, two := range []struct {
		is, was         int
		roles, one, two string
	}{
		{c.label, c.text, "text and label", "text", "label"},
		{c.pair, c.text, "texts of a pair", "text", "pair"},
		{c.pair, c.label, "text and label", "pair", "label"},
		{c.weight, c.text, "text and weight", "text", "weight"},
		{c.weight, c.label, "label and weight", "label", "weight"},
	} {
		if two.is == two.was && two.is >= 0 {
			return &FormatError{File: path, Offset: -1, Line: 1, Reason: fmt.Sprintf("column %d is both "+
				"%s; name two with --%s-column and --%s-column", two.is+1, two.roles, two.one, two.two)}
		}
	}
	return nil
}

// isPlace reports whether a column is given by its number, not by its name.
func isPlace(column string) bool {
	_, err := strconv.Atoi(column)
	return err == nil
}

// column finds the wanted field, by number or name, or else by a usual name.
func column(first []string, path, role, wanted string, usual ...string) (at int, named bool, err error) {
	refuse := func(next, format string, args ...any) (int, bool, error) {
		return 0, false, &FormatError{File: path, Offset: -1, Line: 1, Reason: fmt.Sprintf(format, args...),
			Next: fmt.Sprintf("%s with --%s-column", next, role)}
	}
	if n, err := strconv.Atoi(wanted); err == nil {
		if n < 1 || n > len(first) {
			return refuse("name another", "%d columns, --%s-column is %d", len(first), role, n)
		}
		return n - 1, false, nil
	}
	if wanted != "" {
		usual = []string{wanted}
	}
	for _, name := range usual {
		isNamed := func(field string) bool { return isOneOf(field, []string{name}) }
		i := slices.IndexFunc(first, isNamed)
		if i >= 0 && slices.ContainsFunc(first[i+1:], isNamed) {
			return refuse("give one's number", "several columns are called %s", name)
		} else if i >= 0 {
			return i, true, nil
		}
	}
	return refuse("name one (or, if there is no header, give all columns by number)", "no column %s in the "+
		"header %.200q", strings.Join(usual, " or "), strings.Join(first, " | "))
}

// sortClasses sorts the classes found in sets, numerically if all are whole numbers, else by name, and
// renumbers their labels, unless the classes are fixed, which they are from now on. So the order of a file
// does not matter.
func (t *textReader) sortClasses(sets ...*Set) {
	if t.isFixed {
		return
	}
	sorted := slices.Clone(t.labels)
	numbers := map[string]int{}
	for _, label := range sorted {
		if n, err := strconv.Atoi(label); err == nil {
			numbers[label] = n
		}
	}
	slices.SortFunc(sorted, func(a, b string) int {
		if len(numbers) == len(sorted) && numbers[a] != numbers[b] {
			return numbers[a] - numbers[b]
		}
		return strings.Compare(a, b)
	})
	class := map[string]int32{}
	for i, label := range sorted {
		class[label] = int32(i)
	}
	for _, s := range sets {
		for i, old := range s.Labels {
			s.Labels[i] = class[t.labels[old]]
		}
	}
	t.labels, t.isFixed = sorted, true
}

// mostClasses is the greatest part of the samples that may be classes, once there are enough to tell.
const mostClasses = 0.5

// areClasses refuses labels of which most occur once: what is a number or a name of its own for each sample
// cannot be learnt as a class.
func (t *textReader) areClasses(train *Set) error {
	n, classes := len(train.Labels), len(t.labels)
	if t.options.Regression || n < 20 || float64(classes) <= mostClasses*float64(n) {
		return nil
	}
	return &FormatError{File: train.Source, Offset: -1,
		Reason: fmt.Sprintf("the label column has %d values, such as %.40q, in %d samples: want classes of "+
			"several samples each", classes, t.labels[0], n),
		Next: "--task regression predicts numbers; else name another column by --label-column"}
}

// readParts reads a set from the files of its parts. If there is none to score, a part of the training texts
// is held out or, if isScored, all are scored. Classes are those of the training texts or, if isScored, of
// all parts. The sets' shape is [T], where T is the number of tokens of the longest text.
func (t *textReader) readParts(ctx context.Context, files partPaths, isScored bool) (s Sets, err error) {
	var hashes []uint64
	if s.Train, hashes, err = t.read(ctx, files[trainPart]); err != nil {
		return Sets{}, err
	}
	t.weightColumn = ""
	if !isScored {
		if err := t.areClasses(s.Train); err != nil {
			return Sets{}, err
		}
		t.sortClasses(s.Train)
	}
	if s.LeftOut, err = t.leaveUnlabelled(ctx, &files); err != nil {
		return Sets{}, err
	}
	for i, to := range []**Set{validationPart: &s.Validation, testPart: &s.Test} {
		if to == nil || files[i] == "" {
			continue
		}
		if *to, _, err = t.read(ctx, files[i]); err != nil {
			return Sets{}, err
		}
	}
	t.sortClasses(s.All()...)
	switch {
	case s.Scored() != nil:
	case isScored:
		s.Test = s.Train
	default:
		s.Train, s.Test = s.Train.split(heldOut(s.Train.strata(), hashes))
		s.IsHeldOut = true
	}
	longest := 0
	for _, set := range s.All() {
		longest = max(longest, set.Texts.Longest())
	}
	for _, set := range s.All() {
		set.Classes, set.Shape = t.labels, tensor.Shape{longest}
	}
	s.standardise(func(int) string { return t.named })
	return s, nil
}

// leaveUnlabelled takes a test file without labels, as competitions have, out of files, and says so.
func (t *textReader) leaveUnlabelled(ctx context.Context, files *partPaths) (leftOut string, err error) {
	path := files[testPart]
	if path == "" {
		return "", nil
	}
	h, err := readHeader(ctx, path)
	if err != nil || h.hasLabels(t.labelColumn) {
		return "", err
	}
	files[testPart] = ""
	return "file " + plainName(filepath.Base(path)) + " without labels", nil
}

// sst2Folders lists the possible names of SST-2's folder.
func sst2Folders(folder string) []string {
	return []string{filepath.Join(folder, "sst-2"), filepath.Join(folder, "SST-2"),
		filepath.Join(folder, "sst2"), folder}
}

func sst2Files() []string { return []string{"train.tsv", "dev.tsv"} }

func sst2Source() source {
	return source{
		Info: Info{Name: "sst2",
			Text: "SST-2, 67,349 + 872 sentences and phrases of film reviews, negative or positive"},
		kind:  TextKind,
		wants: []string{"sst-2/train.tsv", "sst-2/dev.tsv", bertFolder + "/vocab.txt"},
		locate: func(folder string) string {
			for _, dir := range sst2Folders(folder) {
				if hasFiles(dir, sst2Files()) {
					return dir
				}
			}
			return ""
		},
		members: inFolder(sst2Files()),
		lacks: func(folder string) string {
			return lacking(filepath.Join(folder, "sst-2"), sst2Files(), hasFile)
		},
		read: func(ctx context.Context, dir string, o Options) (Sets, error) {
			o.TextColumn, o.PairColumn, o.LabelColumn = "", "", ""
			t, err := newTextReader("sst2", o)
			if err != nil {
				return Sets{}, err
			}
			t.labels, t.isFixed = []string{"0", "1"}, true
			names := sst2Files()
			s, err := t.readParts(ctx, partPaths{trainPart: filepath.Join(dir, names[0]),
				testPart: filepath.Join(dir, names[1])}, o.EvalOnly)
			if err != nil {
				return Sets{}, err
			}
			for _, set := range s.All() {
				set.Classes = []string{"negative", "positive"}
			}
			return s, nil
		},
	}
}
