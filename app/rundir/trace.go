package rundir

import (
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"

	"lockstep/internal/regular"
	"lockstep/trace"
)

// SpansFolder is where a run directory has the spans of all ranks, workers and servers.
const SpansFolder = "spans"

// EventsFolder is the log directory for TensorBoard in the run directory. Each worker writes to rank<N> in
// it.
const EventsFolder = "events"

// SpansFile returns the name of a rank's spans in a run directory.
func SpansFile(rank int) string { return fmt.Sprintf("%s/rank%d", SpansFolder, rank) }

// CreateSpans creates the file of a rank's spans.
func (d Directory) CreateSpans(rank int) (io.WriteCloser, error) {
	name := d.Path(SpansFile(rank))
	err := os.MkdirAll(filepath.Dir(name), 0o777)
	var f *os.File
	if err == nil {
		f, err = os.Create(name)
	}
	if err != nil {
		return nil, fmt.Errorf("run directory: spans: %w", err)
	}
	return f, nil
}

// Spans opens the spans of a rank. See [trace.Source].
func (d Directory) Spans(rank int) (io.ReadCloser, error) {
	return regular.Open(d.Path(SpansFile(rank)))
}

// WriteTrace writes trace.json from the spans of all ranks, workers and servers.
func (d Directory) WriteTrace(ranks int) error {
	err := regular.Replace(d.Path(TraceFile), func(w io.Writer) error {
		return trace.Write(w, ranks, d.Spans)
	})
	if err != nil {
		return fmt.Errorf("run directory: %w", err)
	}
	return nil
}

// IsSpans reports whether a file of a run directory with this name has a rank's spans.
func IsSpans(name string) bool {
	is, err := path.Match(SpansFolder+"/rank*", name)
	return err == nil && is
}
