package data

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Bounds of a file of records; a record beyond them counts as damaged.
const (
	maxRecordBytes = 1 << 20
	maxFields      = 1 << 10
)

// recordReader reads a file of records in UTF-8, one per line: comma-separated with quotes as in RFC 4180,
// or tab-separated as in SST-2, where a quote is an ordinary character. A .csv may be separated by tabs or
// semicolons: by what its first line has most of. Numbers with a decimal comma, as files have them that need
// the semicolon, are read with a point. Line ends are LF, CR LF or CR; empty lines and a byte order
// mark are skipped. Of .jsonl, a JSON object per line, the names in the first one are the first record.
type recordReader struct {
	r       *bufio.Reader
	file    string // names r in errors
	isCSV   bool
	isJSON  bool
	names   []string // of JSON
	nested  []string // names in the object whose values are lists or objects
	waiting bool     // the record of JSON that said the names has not been returned
	comma   byte     // separates the fields of a .csv; 0 before its first line
	lines   int      // read so far
	width   int      // fields of the first record

	raw    []byte // the current record, line ends included
	text   []byte // its fields without quotes, concatenated
	ends   []int
	fields []string
}

// isRecordFile reports whether the name is that of a file of records.
func isRecordFile(path string) bool {
	ext := strings.ToLower(filepath.Ext(path))
	return ext == ".csv" || ext == ".tsv" || isJSONLines(path)
}

// isJSONLines reports whether the name is that of a file with a JSON object in each line.
func isJSONLines(path string) bool {
	ext := strings.ToLower(filepath.Ext(path))
	return ext == ".jsonl" || ext == ".ndjson"
}

func newRecordReader(r io.Reader, file string) *recordReader {
	return &recordReader{r: bufio.NewReaderSize(&lineEnds{r: r}, 1<<16), file: file,
		isCSV: strings.EqualFold(filepath.Ext(file), ".csv"), isJSON: isJSONLines(file)}
}

// lineEnds reads r with LF in place of CR and CR LF.
type lineEnds struct {
	r     io.Reader
	wasCR bool // the last byte of r
}

func (l *lineEnds) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	kept := 0
	for _, b := range p[:n] {
		isSecond := l.wasCR && b == '\n'
		l.wasCR = b == '\r'
		if isSecond {
			continue
		}
		if l.wasCR {
			b = '\n'
		}
		p[kept] = b
		kept++
	}
	return kept, err
}

// separator returns what separates the fields of a .csv with this first line: what there is most of outside
// of quotes, a comma where that is not clear. What a space follows, as in prose, counts if nothing else does.
func separator(line []byte) byte {
	var count, loose [256]int
	isQuoted := false
	for i, c := range line {
		if isQuoted = isQuoted != (c == '"'); isQuoted {
			continue
		}
		if bytes.HasPrefix(line[i+1:], []byte(" ")) {
			loose[c]++
		} else {
			count[c]++
		}
	}
	best := byte(',')
	for _, c := range []byte("\t;") {
		if cmp.Or(count[c]-count[best], loose[c]-loose[best]) > 0 {
			best = c
		}
	}
	return best
}

// next returns the fields of the next record and the number of its first line; io.EOF after the
// last one. The slice is valid until the following call. Memory does not grow with the file.
func (r *recordReader) next() (fields []string, line int, err error) {
	if r.waiting {
		r.waiting = false
		return r.fields, r.lines, nil
	}
	for {
		line = r.lines + 1
		r.raw = r.raw[:0]
		if err := r.readLine(line); err != nil {
			return nil, line, err
		}
		if line == 1 {
			r.raw = bytes.TrimPrefix(r.raw, []byte("\ufeff"))
		}
		if len(bytes.TrimRight(r.raw, "\n")) > 0 {
			break
		}
	}
	if r.isJSON {
		return r.object(line)
	}
	if r.isCSV {
		if r.comma == 0 {
			r.comma = separator(r.raw)
		}
		err = r.splitCSV(line)
	} else {
		r.splitTSV()
	}
	if err != nil {
		return nil, line, err
	}
	if r.width == 0 {
		r.width = len(r.ends)
	}
	if len(r.ends) != r.width {
		return nil, line, r.fault(line, fmt.Sprintf("%d fields, want %d as in the first record", len(r.ends),
			r.width))
	}
	if r.width > maxFields {
		return nil, line, r.fault(line, fmt.Sprintf("%d fields, want at most %d", r.width, maxFields))
	}
	all, start := string(r.text), 0
	r.fields = r.fields[:0]
	for _, end := range r.ends {
		r.fields = append(r.fields, all[start:end])
		start = end
	}
	if r.comma == ';' {
		pointDecimals(r.fields)
	}
	return r.fields, line, nil
}

// pointDecimals writes numbers with a decimal comma with a point.
func pointDecimals(row []string) {
	isNumber := func(digits string) bool {
		_, err := strconv.ParseUint(digits, 10, 64)
		return err == nil
	}
	for i, text := range row {
		whole, part, hasComma := strings.Cut(strings.TrimSpace(text), ",")
		if hasComma && isNumber(strings.TrimPrefix(whole, "-")) && isNumber(part) {
			row[i] = whole + "." + part
		}
	}
}

// readLine appends one more line of a record, which began at line first, to raw.
func (r *recordReader) readLine(first int) error {
	start := len(r.raw)
	for {
		part, err := r.r.ReadSlice('\n')
		r.raw = append(r.raw, part...)
		if len(r.raw) > maxRecordBytes {
			return r.fault(first, fmt.Sprintf("record of more than %d bytes", maxRecordBytes))
		}
		switch {
		case err == nil, err == io.EOF && len(r.raw) > start:
			r.lines++
			return r.checkText(r.raw[start:])
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err == io.EOF:
			return io.EOF
		}
		return readError(err, r.file, -1, "cannot be read")
	}
}

// checkText returns an error for a line that is not UTF-8.
func (r *recordReader) checkText(line []byte) error {
	isUTF16 := bytes.IndexByte(line, 0) >= 0 || bytes.HasPrefix(line, []byte("\xff\xfe")) ||
		bytes.HasPrefix(line, []byte("\xfe\xff"))
	if !isUTF16 && utf8.Valid(line) {
		return nil
	}
	fault := &FormatError{File: r.file, Offset: -1, Line: r.lines, Reason: "not UTF-8",
		Next: "save the file as UTF-8"}
	if isUTF16 {
		fault.Reason = "UTF-16 or binary, want UTF-8"
	}
	return fault
}

func (r *recordReader) fault(line int, reason string) error {
	return &FormatError{File: r.file, Offset: -1, Line: line, Reason: reason}
}

// splitTSV splits raw at its tabs.
func (r *recordReader) splitTSV() {
	r.text, r.ends = r.text[:0], r.ends[:0]
	for field := range bytes.SplitSeq(bytes.TrimRight(r.raw, "\n"), []byte{'\t'}) {
		r.endField(field)
	}
}

// endField appends the rest of a field and ends it.
func (r *recordReader) endField(rest []byte) {
	r.text = append(r.text, rest...)
	r.ends = append(r.ends, len(r.text))
}

// splitCSV splits raw, which began at line first, at its commas; a quoted field may continue over
// further lines.
func (r *recordReader) splitCSV(first int) error {
	r.text, r.ends = r.text[:0], r.ends[:0]
	for at := 0; ; {
		if at < len(r.raw) && r.raw[at] == '"' {
			after, err := r.quoted(at+1, first)
			if err != nil {
				return err
			}
			at = after
			r.endField(nil)
		} else {
			end := at
			for end < len(r.raw) && r.raw[end] != r.comma && r.raw[end] != '\n' {
				end++
			}
			field := r.raw[at:end]
			if bytes.IndexByte(field, '"') >= 0 {
				return r.fault(r.lines, "quote inside a field without quotes")
			}
			r.endField(field)
			at = end
		}
		if at == len(r.raw) || r.raw[at] != r.comma {
			return nil
		}
		at++
	}
}

// quoted appends the text of a quoted field that starts at raw[at], and returns the index of the
// comma or line end after it.
func (r *recordReader) quoted(at, first int) (int, error) {
	opened := r.lines
	for {
		n := bytes.IndexByte(r.raw[at:], '"')
		switch {
		case n < 0:
			r.text = append(r.text, r.raw[at:]...)
			at = len(r.raw)
			if err := r.readLine(first); err == io.EOF {
				return 0, r.fault(opened, "quote that nothing closes")
			} else if err != nil {
				return 0, err
			}
			continue
		case at+n+1 < len(r.raw) && r.raw[at+n+1] == '"':
			r.text = append(r.text, r.raw[at:at+n+1]...)
			at += n + 2
			continue
		}
		r.text = append(r.text, r.raw[at:at+n]...)
		at += n + 1
		rest := r.raw[at:]
		if len(rest) > 0 && rest[0] != r.comma && rest[0] != '\n' {
			return 0, r.fault(r.lines, "text behind a closing quote")
		}
		return at, nil
	}
}

// object returns the values of the JSON object that raw, which is a line, consists of, in the order of the
// names in the first one; of the first one, the names. A text is itself, null and a name that is not there
// are nothing, and everything else is its JSON.
func (r *recordReader) object(line int) (fields []string, number int, err error) {
	names, values, nested, err := readFields(bytes.TrimSpace(r.raw))
	r.nested = nested
	if err != nil {
		return nil, line, r.fault(line, fmt.Sprintf(`want a JSON object such as {"text": "..."}: %v`, err))
	}
	if r.names == nil {
		if len(names) == 0 {
			return nil, line, r.fault(line, "0 names in the object")
		}
		r.names, r.fields, r.waiting = names, values, true
		return names, line, nil
	}
	r.fields = slices.Grow(r.fields[:0], len(r.names))[:len(r.names)]
	clear(r.fields)
	for i, name := range names {
		at := i
		if at >= len(r.names) || r.names[at] != name {
			at = slices.Index(r.names, name)
		}
		if at < 0 {
			return nil, line, r.fault(line, fmt.Sprintf("%.80q, which the first object has not; give null "+
				"there where there is no value", name))
		}
		r.fields[at] = values[i]
	}
	return r.fields, line, nil
}

// areValues returns an error if one of the columns of the record from line on is a list or an object.
func (r *recordReader) areValues(line int, columns ...int) error {
	if len(r.nested) == 0 {
		return nil
	}
	for _, c := range columns {
		if c >= 0 && slices.Contains(r.nested, r.names[c]) {
			return r.fault(line, fmt.Sprintf("%.80q is a list or an object, want a text, a number, a truth "+
				"value or null", r.names[c]))
		}
	}
	return nil
}

// readFields returns the names of a JSON object with their values as text, and those whose values are nested.
func readFields(text []byte) (names, values, nested []string, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, nil, nil, errors.Join(err, errors.New("no object"))
	}
	for d.More() {
		t, err := d.Token()
		name, isName := t.(string)
		if err != nil || !isName {
			return nil, nil, nil, errors.Join(err, errors.New("no name"))
		}
		if name = strings.TrimSpace(name); slices.Contains(names, name) {
			return nil, nil, nil, fmt.Errorf("%.80q twice", name)
		} else if len(names) == maxFields {
			return nil, nil, nil, fmt.Errorf("more than %d names", maxFields)
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, nil, nil, err
		}
		value := string(raw)
		switch raw[0] {
		case '"':
			if err := json.Unmarshal(raw, &value); err != nil {
				return nil, nil, nil, err
			}
		case 'n':
			value = ""
		case '[', '{':
			nested = append(nested, name)
		}
		names, values = append(names, name), append(values, value)
	}
	if _, err := d.Token(); err != nil {
		return nil, nil, nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, nil, nil, errors.New("more behind the object")
	}
	return names, values, nested, nil
}
