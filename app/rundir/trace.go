package rundir

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"lockstep/internal/regular"
	"lockstep/trace"
)

// KeepRecording writes a rank's spans for MergeTraces.
func (d Directory) KeepRecording(rank int, r trace.Recording) error {
	text, err := json.Marshal(r)
	if err == nil {
		err = os.WriteFile(d.recording(rank), text, 0o666)
	}
	if err != nil {
		return fmt.Errorf("run directory: keep the trace: %w", err)
	}
	return nil
}

// MergeTraces merges the recordings of all ranks, workers and servers, into one file.
func (d Directory) MergeTraces(ranks int) error {
	recordings := make([]trace.Recording, ranks)
	for rank := range recordings {
		text, err := regular.ReadFile(d.recording(rank), maxLines)
		if err == nil {
			err = json.Unmarshal(text, &recordings[rank])
		}
		if err != nil {
			return fmt.Errorf("run directory: trace of rank %d: %w", rank, err)
		}
	}
	f, err := os.OpenFile(d.Path(TraceFile), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o666)
	if err != nil {
		return fmt.Errorf("run directory: trace: %w", err)
	}
	if err := errors.Join(trace.Write(f, recordings...), f.Close()); err != nil {
		return fmt.Errorf("run directory: trace: %w", err)
	}
	return nil
}

// RemoveRecordings removes the recordings of a trace that will not be merged.
func (d Directory) RemoveRecordings(ranks int) {
	for rank := range ranks {
		os.Remove(d.recording(rank)) // not there, mostly
	}
}

// recordingPattern matches the names of all workers' recordings.
const recordingPattern = ".trace*.json"

// IsRecording reports whether a file of a run directory with this name has a worker's spans.
func IsRecording(name string) bool {
	isOne, err := filepath.Match(recordingPattern, name)
	return err == nil && isOne
}

// recording is the path of a worker's spans until they are merged.
func (d Directory) recording(rank int) string { return d.Path(fmt.Sprintf(".trace%d.json", rank)) }
