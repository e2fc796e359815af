package worker

import (
	"io"
	"os"
	"slices"
	"syscall"
	"testing"

	"lockstep/app/host"
	"lockstep/app/job"
	"lockstep/app/rundir"
	"lockstep/checkpoint"
)

// Logs make room for the trained weights, in the order of what they are worth and no more than is needed;
// where nothing is left to remove, the error stays.
func TestLogsMakeRoomForTheWeights(t *testing.T) {
	full := &checkpoint.WriteError{File: "model.safetensors", Err: syscall.ENOSPC}
	for _, c := range []struct {
		failures int
		lost     []string
	}{
		{0, nil},
		{1, []string{rundir.EventsFolder}},
		{2, []string{rundir.EventsFolder, rundir.SpansFolder}},
		{9, []string{rundir.EventsFolder, rundir.SpansFolder, rundir.StepsFile, rundir.UpdatesFile}},
	} {
		dir := rundir.Directory(t.TempDir())
		os.Mkdir(dir.Path(rundir.EventsFolder), 0o700) // the writes below tell
		os.Mkdir(dir.Path(rundir.SpansFolder), 0o700)
		for _, name := range []string{rundir.EventsFolder + "/rank0", rundir.SpansFile(1), rundir.StepsFile,
			rundir.UpdatesFile} {
			if err := os.WriteFile(dir.Path(name), []byte("line\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var lost []string
		w := &Worker{Seat: job.Seat{Dir: dir, Log: io.Discard,
			Tell: func(n job.Notice) { lost = append(lost, n.Lost.File) }}}
		calls := 0
		err := w.makingRoom(1, func() error {
			if calls++; calls <= c.failures {
				return full
			}
			return nil
		})
		if !slices.Equal(lost, c.lost) || job.IsFull(err) != (calls <= c.failures) {
			t.Errorf("%d failures: %v, lost %q, want %q", c.failures, err, lost, c.lost)
		}
		for file, name := range map[string]string{rundir.EventsFolder: rundir.EventsFolder,
			rundir.SpansFolder: rundir.SpansFolder, rundir.StepsFile: rundir.StepsFile,
			rundir.UpdatesFile: rundir.UpdatesFile} {
			_, err := os.Stat(dir.Path(name))
			if isGone := err != nil; isGone != slices.Contains(c.lost, file) {
				t.Errorf("%d failures: %s gone: %v", c.failures, name, isGone)
			}
		}
	}
}

// An error that is not of a full disk costs no log.
func TestOtherErrorsRemoveNoLog(t *testing.T) {
	dir := rundir.Directory(t.TempDir())
	if err := os.WriteFile(dir.Path(rundir.StepsFile), []byte("line\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := &Worker{Seat: job.Seat{Dir: dir, Log: io.Discard}}
	if err := w.makingRoom(1, func() error { return syscall.EROFS }); err != syscall.EROFS {
		t.Error(err)
	}
	if _, err := os.Stat(dir.Path(rundir.StepsFile)); err != nil {
		t.Error(err)
	}
}

// Logs that do not make enough room for the weights stay: without the weights they are all that the run has.
func TestLogsThatMakeTooLittleRoomStay(t *testing.T) {
	dir := rundir.Directory(t.TempDir())
	free, total := host.Room(string(dir))
	if total == 0 {
		t.Skip("this system does not tell the room on a disk")
	}
	if err := os.WriteFile(dir.Path(rundir.StepsFile), []byte("line\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := &Worker{Seat: job.Seat{Dir: dir, Log: io.Discard,
		Tell: func(n job.Notice) { t.Errorf("lost %s", n.Lost.File) }}}
	full := func() error { return syscall.ENOSPC }
	if err := w.makingRoom(2*int64(free)+1<<40, full); err != syscall.ENOSPC {
		t.Error(err)
	}
	if _, err := os.Stat(dir.Path(rundir.StepsFile)); err != nil {
		t.Error(err)
	}
}
