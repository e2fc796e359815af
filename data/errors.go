package data

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// MissingError reports a data set that was not found and could not be downloaded.
type MissingError struct {
	// Set is the name of the data set.
	Set string
	// Files names what to put into Folder: file names, or alternatives joined by " or ".
	Files []string
	// Searched lists the folders that were searched.
	Searched []string
	// Folder is where to put the files; empty if no folder is known.
	Folder string
	// Instead is another way to obtain the files, or "".
	Instead string
	// Command is the lockstep command that fetches the files where there is a network.
	Command string
	// FolderErr says why the folder that the user named is unusable, or is nil. If it is not nil,
	// no download was tried.
	FolderErr error
	// Incomplete names the files that a folder with a part of the set lacks, or is "".
	Incomplete string
	// Err is the error of the download, or nil if none was tried.
	Err error
}

// Error names the cause and the next step in one line.
func (e *MissingError) Error() string {
	var b strings.Builder
	files := strings.Join(e.Files, ", ")
	switch {
	case errors.Is(e.FolderErr, fs.ErrNotExist):
		fmt.Fprintf(&b, "data: %s: folder %s does not exist; create it and put %s into it", e.Set,
			e.Folder, files)
	case e.FolderErr != nil:
		fmt.Fprintf(&b, "data: %s: %v; name a folder that holds %s with --data-dir", e.Set,
			e.FolderErr, files)
	case len(e.Searched) == 0:
		fmt.Fprintf(&b, "data: %s: no folder to look in; name one that holds %s with "+
			"--data-dir or LOCKSTEP_DATA", e.Set, files)
	default:
		e.tellSearch(&b, files)
	}
	if e.Instead != "" {
		b.WriteString(", or " + e.Instead)
	}
	if e.Command != "" {
		fmt.Fprintf(&b, " (where there is a network: %s)", e.Command)
	}
	return b.String()
}

// tellSearch describes a search, and a download, that found nothing.
func (e *MissingError) tellSearch(b *strings.Builder, files string) {
	fmt.Fprintf(b, "data: %s not found in %s", e.Set, strings.Join(e.Searched, ", "))
	if e.Incomplete != "" {
		fmt.Fprintf(b, ": %s", e.Incomplete)
	}
	if e.Err != nil {
		fmt.Fprintf(b, "; download failed: %v", e.Err)
	}
	folder := e.Folder
	if folder == "" {
		folder = "a folder named by --data-dir"
	}
	fmt.Fprintf(b, "; put %s into %s", files, folder)
}

// Unwrap returns the error of the folder or of the download.
func (e *MissingError) Unwrap() error {
	if e.FolderErr != nil {
		return e.FolderErr
	}
	return e.Err
}

// FormatError reports a file of a data set with invalid contents.
type FormatError struct {
	// File is the path; a member of an archive follows after a colon.
	File string
	// Offset is the position of the first wrong byte, uncompressed, or -1 if the fault has none.
	Offset int64
	// Line is the number of the wrong line, from 1, or 0 if the file does not consist of lines.
	Line int
	// Reason says what was found and what was expected.
	Reason string
	// Next says what to do about it; "" means to correct the line, or to put an intact copy in its place.
	Next string
	// Err is the underlying error, or nil.
	Err error
}

// Error names file, byte or line, reason and next step in one line.
func (e *FormatError) Error() string {
	place, next := e.File, "put an intact copy in its place"
	switch {
	case e.Line > 0:
		place, next = fmt.Sprintf("%s, line %d", e.File, e.Line), "correct the file"
	case e.Offset >= 0:
		place = fmt.Sprintf("%s, byte %d", e.File, e.Offset)
	}
	if e.Next != "" {
		next = e.Next
	}
	cause := e.Reason
	if e.Err != nil {
		cause = fmt.Sprintf("%s: %v", e.Reason, e.Err)
	}
	return fmt.Sprintf("data: %s: %s; %s", place, cause, next)
}

// Unwrap returns the underlying error.
func (e *FormatError) Unwrap() error { return e.Err }

// ReadError reports a file of a data set that exists but cannot be read.
type ReadError struct {
	// File is the path; a member of an archive follows after a colon.
	File string
	// Err is the operating system's error.
	Err error
}

// Error names the file, the cause and, where there is one, the next step.
func (e *ReadError) Error() string {
	cause, next := e.Err, ""
	if disk := (*fs.PathError)(nil); errors.As(e.Err, &disk) {
		cause = disk.Err
	}
	if errors.Is(e.Err, fs.ErrPermission) {
		next = "; make it readable for this user"
	}
	return fmt.Sprintf("data: cannot read %s: %v%s", e.File, cause, next)
}

// Unwrap returns the operating system's error.
func (e *ReadError) Unwrap() error { return e.Err }

// OwnError reports that the data set of a calling program could not be loaded, or is malformed.
type OwnError struct {
	// Set is the name of the data set.
	Set string
	// Err is the error of its LoadFunc, or what is wrong with the sets that it returned.
	Err error
}

// Error names the set, the cause and the next step.
func (e *OwnError) Error() string {
	return fmt.Sprintf("data: %s: %v; correct the function that loads it, or what it reads", e.Set, e.Err)
}

// Unwrap returns the cause.
func (e *OwnError) Unwrap() error { return e.Err }

// UnknownError reports that no data set has this name.
type UnknownError struct {
	// Name is the unknown name.
	Name string
	// Suggestion is the most similar name; empty if none is close.
	Suggestion string
	// Known are all names.
	Known []string
}

// Error lists the known names.
func (e *UnknownError) Error() string {
	hint := ""
	if e.Suggestion != "" {
		hint = fmt.Sprintf("did you mean %q? ", e.Suggestion)
	}
	return fmt.Sprintf("data: unknown data set %.80q (%sknown: %s)", e.Name, hint,
		strings.Join(e.Known, ", "))
}
