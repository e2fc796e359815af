package data

import (
	"fmt"
	"strings"
)

// MissingError says that a data set is in none of the places searched and could not be fetched.
type MissingError struct {
	// Set is the name of the data set.
	Set string
	// Files names what to put into Folder: file names, or alternatives joined by " or ".
	Files []string
	// Searched lists the folders that were looked into.
	Searched []string
	// Folder is where to put the files; empty if no folder is known.
	Folder string
	// Command is the lockstep command that fetches the files where there is a network.
	Command string
	// Err says why the download failed; nil if none was tried.
	Err error
}

// Error names the cause and the next step in one line.
func (e *MissingError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "data: %s not found in %s", e.Set, orNowhere(strings.Join(e.Searched, ", ")))
	if e.Err != nil {
		fmt.Fprintf(&b, "; download failed: %v", e.Err)
	}
	fmt.Fprintf(&b, "; put %s into %s", strings.Join(e.Files, ", "), orNowhere(e.Folder))
	if e.Command != "" {
		fmt.Fprintf(&b, " (where there is a network: %s)", e.Command)
	}
	return b.String()
}

// Unwrap returns the cause of the failed download.
func (e *MissingError) Unwrap() error { return e.Err }

func orNowhere(s string) string {
	if s == "" {
		return "a folder named by --data-dir"
	}
	return s
}

// FormatError says that a file of a data set does not hold what it should.
type FormatError struct {
	// File is the path; a member of an archive follows after a colon.
	File string
	// Offset is the position of the first wrong byte, uncompressed; -1 if the fault has no place.
	Offset int64
	// Reason says what was found and what was wanted.
	Reason string
	// Err is the underlying error, or nil.
	Err error
}

// Error names file, byte and reason in one line.
func (e *FormatError) Error() string {
	place := e.File
	if e.Offset >= 0 {
		place = fmt.Sprintf("%s, byte %d", e.File, e.Offset)
	}
	if e.Err != nil {
		return fmt.Sprintf("data: %s: %s: %v", place, e.Reason, e.Err)
	}
	return fmt.Sprintf("data: %s: %s", place, e.Reason)
}

// Unwrap returns the underlying error.
func (e *FormatError) Unwrap() error { return e.Err }

// UnknownError says that no data set has this name.
type UnknownError struct {
	// Name is what was asked for.
	Name string
	// Suggestion is the most similar name; empty if none is close.
	Suggestion string
}

// Error lists the names there are.
func (e *UnknownError) Error() string {
	hint := ""
	if e.Suggestion != "" {
		hint = fmt.Sprintf("did you mean %q? ", e.Suggestion)
	}
	return fmt.Sprintf("data: unknown data set %q (%sknown: %s)", e.Name, hint,
		strings.Join(Names(), ", "))
}
