package checkpoint

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// FormatError reports a file with invalid contents.
type FormatError struct {
	// File is the path.
	File string
	// Offset is the position of the fault in the file, or -1 if it has none.
	Offset int64
	// Tensor is the name of the faulty tensor, or "" if there is none.
	Tensor string
	// Reason says what was found and what was expected.
	Reason string
}

// Error names file, byte or tensor, and reason in one line.
func (e *FormatError) Error() string {
	place := e.File
	if e.Offset >= 0 {
		place += fmt.Sprintf(", byte %d", e.Offset)
	}
	if e.Tensor != "" {
		place += ", tensor " + quote(e.Tensor)
	}
	return fmt.Sprintf("checkpoint: %s: %s", place, e.Reason)
}

// ReadError reports a file that cannot be read or does not exist.
type ReadError struct {
	// Err is the operating system's error, which names the path.
	Err error
}

// Error returns the operating system's message.
func (e *ReadError) Error() string {
	if at, ok := e.Err.(*fs.PathError); ok {
		return fmt.Sprintf("checkpoint: %s: %v", at.Path, at.Err) // the system call tells the reader nothing
	}
	return fmt.Sprintf("checkpoint: %v", e.Err)
}

// Unwrap returns the operating system's error.
func (e *ReadError) Unwrap() error { return e.Err }

// WriteError reports a file that could not be written; a previous file of that name is unchanged.
type WriteError struct {
	// File is the path of the file.
	File string
	// Err is the cause.
	Err error
}

// Error names file and cause.
func (e *WriteError) Error() string { return fmt.Sprintf("checkpoint: write %s: %v", e.File, e.Err) }

// Unwrap returns the cause.
func (e *WriteError) Unwrap() error { return e.Err }

// NoneError reports that a run has no checkpoint to resume from.
type NoneError struct {
	// Folder is the folder of the checkpoints.
	Folder string
	// Absent is the run directory if it does not exist, else "".
	Absent string
	// Tried holds the fault of each checkpoint that exists, the newest first.
	Tried []error
}

// Error lists what was tried in one line.
func (e *NoneError) Error() string {
	if e.Absent != "" {
		return fmt.Sprintf("checkpoint: there is no folder %s to resume from", e.Absent)
	}
	if len(e.Tried) == 0 {
		return fmt.Sprintf("checkpoint: %s holds no checkpoint", e.Folder)
	}
	parts := make([]string, len(e.Tried))
	for i, err := range e.Tried {
		parts[i] = strings.TrimPrefix(err.Error(), "checkpoint: ")
	}
	return fmt.Sprintf("checkpoint: %s holds no valid checkpoint: %s", e.Folder,
		strings.Join(parts, "; "))
}

// MatchError reports that a file's tensors are not those of a network. Its lists are complete, in
// the order of the network or the file.
type MatchError struct {
	// File is the path.
	File string
	// Missing lists tensors of the network that the file lacks: "name [shape]".
	Missing []string
	// Surplus lists tensors of the file that the network lacks: "name [shape]".
	Surplus []string
	// Misshapen lists tensors that differ: "name: got DTYPE [shape], want [shape]".
	Misshapen []string
	// OnlyHead reports whether LoadOptions.FreshHead would accept the file.
	OnlyHead bool
}

// maxListed bounds the names of one kind in a message.
const maxListed = 12

// Error lists the tensors by name in one line, at most a dozen of each kind.
func (e *MatchError) Error() string {
	var parts []string
	add := func(kind string, names []string) {
		if len(names) == 0 {
			return
		}
		text := strings.Join(names[:min(len(names), maxListed)], ", ")
		if more := len(names) - maxListed; more > 0 {
			text += fmt.Sprintf(", and %d more", more)
		}
		parts = append(parts, fmt.Sprintf("%d %s (%s)", len(names), kind, text))
	}
	add("missing", e.Missing)
	add("surplus", e.Surplus)
	add("of another shape", e.Misshapen)
	text := fmt.Sprintf("checkpoint: %s does not fit the network: tensors %s", e.File,
		strings.Join(parts, "; "))
	if e.OnlyHead {
		text += "; --fresh-head keeps the rest, and initialises what is missing and the last layer"
	}
	return text
}

// maxQuoted bounds a name in a message.
const maxQuoted = 100

// quote formats a name from a file for a message of one line.
func quote(name string) string {
	if len(name) > maxQuoted {
		name = name[:maxQuoted] + "..."
	}
	if text := strconv.Quote(name); len(text) != len(name)+2 || name == "" {
		return text
	}
	return name
}
