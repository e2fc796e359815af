package transfer

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"unicode"
)

// Note: the exchange. The sender writes a head and a line for each file. The receiver answers with a line
// for each file that it lacks and one that ends them. The sender writes one Zstandard frame with these files
// in order. Meanwhile the receiver writes lines of progress, and at the end one with the result. All lines
// are JSON.

const (
	protocol = "lockstep files 3"

	maxLine  = 16 << 10 // bytes
	maxFiles = 4 << 20
	maxSize  = 1 << 50 // bytes of all files
	maxName  = 4 << 10 // bytes
)

// head is the sender's first line.
type head struct {
	Protocol string `json:"protocol"`
	Files    int    `json:"files"`
}

// entry is a file.
type entry struct {
	Name   string `json:"name"` // below the folder, with slashes
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"` // in hexadecimal
}

// path is the name of the file on this system.
func (e entry) path() string { return filepath.FromSlash(e.Name) }

// check refuses a file that does not belong below a folder, or has no size or hash.
func (e entry) check() error {
	hash, err := hex.DecodeString(e.SHA256)
	isOdd := strings.ContainsFunc(e.Name, unicode.IsControl) || strings.Contains(e.Name, `\`)
	switch {
	case e.Name == "" || e.Name == "." || len(e.Name) > maxName || isOdd ||
		!filepath.IsLocal(e.path()) || filepath.ToSlash(filepath.Clean(e.Name)) != e.Name:
		return fmt.Errorf("file name %.80q, want a relative one that stays in the folder", e.Name)
	case e.Bytes < 0 || e.Bytes > maxSize:
		return fmt.Errorf("%s: %d bytes, want 0 to %d", e.Name, e.Bytes, int64(maxSize))
	case err != nil || len(hash) != 32:
		return fmt.Errorf("%s: hash %.80q, want 64 hexadecimal digits", e.Name, e.SHA256)
	}
	return nil
}

// reply is a line of the receiver. One of its fields is set, or two.
type reply struct {
	Want    *int   `json:"want,omitempty"`   // number of a file that the receiver lacks
	IsReady bool   `json:"ready,omitempty"`  // ends the wanted files
	Done    *int64 `json:"done,omitempty"`   // bytes that have come, or nothing new while it hashes
	Failed  string `json:"failed,omitempty"` // why the receiver gives up
	IsCut   bool   `json:"cut,omitempty"`    // with Failed: the sender's bytes ended too early
	OK      bool   `json:"ok,omitempty"`
}

// HostError is what a host has against the files, such as no room for them.
type HostError struct {
	Host  string
	IsCut bool  // the connection broke, or nothing came over it
	Err   error // what is wrong
}

// Error names the host.
func (e *HostError) Error() string {
	if e.IsCut {
		return fmt.Sprintf("host %s: sending files broke off; the next start sends what is missing: %v",
			e.Host, e.Err)
	}
	return fmt.Sprintf("host %s: %v", e.Host, e.Err)
}

// Unwrap returns what is wrong.
func (e *HostError) Unwrap() error { return e.Err }

// readLine reads a line of JSON into value. The size of the reader bounds it.
func readLine(in *bufio.Reader, value any) error {
	text, err := in.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return fmt.Errorf("a line of more than %d bytes", maxLine)
	case err == io.EOF:
		return io.ErrUnexpectedEOF
	case err != nil:
		return err
	}
	if err := json.Unmarshal(text, value); err != nil {
		return fmt.Errorf("a line that cannot be read: %w", err)
	}
	return nil
}

// writeLine writes a value as a line.
func writeLine(w io.Writer, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}
