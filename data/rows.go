package data

import (
	"bufio"
	"context"
	"io"
	"os"

	"lockstep/data/table"
	"lockstep/internal/regular"
)

// Rows reads the rows of a table one by one: of a CSV, TSV or JSONL file whose first record names the
// columns.
type Rows struct {
	records *recordReader
	header  []string
	file    *os.File // nil: it is the caller's
	name    string

	size, modified int64 // of file

	table   *table.Table // whose rows Next returns; nil: the file's
	at      []int
	unknown map[string]int
}

// OpenRows opens the file of a table, which Close closes. Errors: *ReadError, *FormatError.
func OpenRows(ctx context.Context, path string) (*Rows, error) {
	file, err := regular.Open(path)
	if err != nil {
		return nil, &ReadError{File: path, Err: err}
	}
	size, modified, err := regular.Stamp(file)
	if err != nil {
		file.Close()
		return nil, &ReadError{File: path, Err: err}
	}
	r := &Rows{records: newRecordReader(&contextReader{ctx, file}, path), file: file, name: path, size: size,
		modified: modified}
	if err := r.begin(); err != nil {
		file.Close()
		return nil, err
	}
	return r, nil
}

// ReadRows reads a table from r, which errors call name: JSONL if it begins with a brace, else CSV.
func ReadRows(ctx context.Context, r io.Reader, name string) (*Rows, error) {
	plain := bufio.NewReader(&contextReader{ctx, r})
	first, _ := plain.Peek(1) // an error comes again
	records := newRecordReader(plain, name)
	records.isJSON = string(first) == "{"
	records.isCSV = !records.isJSON
	rows := &Rows{records: records, name: name}
	return rows, rows.begin()
}

// begin reads the header.
func (r *Rows) begin() error {
	header, _, err := r.records.next()
	if err == io.EOF {
		return &FormatError{File: r.name, Offset: 0, Reason: "empty"}
	}
	r.header = append(r.header, header...)
	return err
}

// Header returns the names of the columns.
func (r *Rows) Header() []string { return r.header }

// Next returns the fields of the next row, which are valid until the following call, and the number of its
// first line; io.EOF after the last one. A file that changed since it was opened is a *FormatError then.
func (r *Rows) Next() (row []string, line int, err error) {
	row, line, err = r.records.next()
	if err == nil && r.table != nil {
		return r.tabled(row, line)
	}
	if err != io.EOF || r.file == nil {
		return row, line, err
	}
	size, modified, stampErr := regular.Stamp(r.file)
	switch {
	case stampErr != nil:
		return nil, line, &ReadError{File: r.name, Err: stampErr}
	case size != r.size || modified != r.modified:
		return nil, line, changed(r.name)
	}
	return nil, line, io.EOF
}

// In makes Next return rows of t, that is fields in the order of its columns, which are checked, and new ones
// in every call. It returns the columns of the file that t has not. Errors: *FormatError.
func (r *Rows) In(t *table.Table) (unused []string, err error) {
	r.at, unused, err = t.Places(r.header)
	if err != nil {
		return nil, &FormatError{File: r.name, Offset: -1, Line: 1, Reason: err.Error()}
	}
	r.table, r.unknown = t, map[string]int{}
	return unused, nil
}

// tabled returns a row of the table.
func (r *Rows) tabled(fields []string, line int) ([]string, int, error) {
	row := table.Pick(fields, r.at)
	if err := r.records.areValues(line, r.at...); err != nil {
		return nil, line, err
	}
	if err := r.table.CheckRow(row); err != nil {
		return nil, line, &FormatError{File: r.name, Offset: -1, Line: line, Reason: err.Error()}
	}
	for _, name := range r.table.Unknown(row) {
		r.unknown[name]++
	}
	return row, line, nil
}

// Unknown returns how many rows so far have a category that no training row had, by the column's name.
func (r *Rows) Unknown() map[string]int { return r.unknown }

// Close closes the file, if it was opened.
func (r *Rows) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}
