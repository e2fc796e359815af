package rundir_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"lockstep/app/record"
	"lockstep/app/rundir"
)

// A log is read as it was written, without dropped gradients. One that is resumed loses the lines of
// updates that are made again, also if another strategy makes them and leaves a gap, and a line that was not
// finished.
func TestUpdateLog(t *testing.T) {
	dir := rundir.Directory(t.TempDir())
	order := record.Order{Settings: map[string]string{"seed": "1"}, Steps: 3, PerEpoch: 2}
	write := func(updates ...record.Update) {
		t.Helper()
		l, err := dir.OpenUpdateLog(order, false)
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range updates {
			if err := l.Add(u); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	resume := func(step int) {
		t.Helper()
		d, err := rundir.Reclaim(string(dir), step, nil)
		if err != nil {
			t.Fatal(err)
		}
		d.Unlock()
	}
	first, second := record.Update{Update: 0, Batch: 1}, record.Update{Update: 1, Batch: 0, Staleness: 1}
	given := record.Update{Update: 2, Batch: 2}
	write(first, record.Update{Update: -1, Dropped: true}, second, given)
	resume(2) // with a strategy that writes no updates
	resume(4)
	fourth := record.Update{Update: 4, Batch: 4, Worker: 3, Version: 4}
	write(fourth)
	text, err := os.ReadFile(dir.Path(rundir.UpdatesFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir.Path(rundir.UpdatesFile), append(text, `{"update":5`...), 0o666); err != nil {
		t.Fatal(err)
	}
	resume(9)
	got, updates, err := rundir.ReadUpdates(dir.Path(rundir.UpdatesFile))
	if err != nil || !reflect.DeepEqual(got, order) ||
		!reflect.DeepEqual(updates, []record.Update{first, second, fourth}) {
		t.Errorf("got %+v, %+v, %v", got, updates, err)
	}
	other := filepath.Join(t.TempDir(), "other")
	if err := os.WriteFile(other, []byte(`{"step":1}`), 0o666); err != nil {
		t.Fatal(err)
	}
	_, _, err = rundir.ReadUpdates(other)
	if err == nil || !strings.Contains(err.Error(), "does not describe") {
		t.Errorf("another file: got %v", err)
	}
}

// The lines of a run that can be resumed are in the file at once: a kill after a checkpoint loses none.
func TestPromptUpdateLogKeepsNothingBack(t *testing.T) {
	dir := rundir.Directory(t.TempDir())
	log, err := dir.OpenUpdateLog(record.Order{Settings: map[string]string{}}, true)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	for number := range 3 {
		err := log.Add(record.Update{Update: number})
		_, updates, readErr := rundir.ReadUpdates(dir.Path(rundir.UpdatesFile))
		if err != nil || readErr != nil || len(updates) != number+1 {
			t.Fatalf("%d updates in the file, %v, %v, want %d", len(updates), err, readErr, number+1)
		}
	}
}

// A log that could not be written to its end is not taken for that of a shorter run, however many whole lines
// it has. A resumed run goes on after its last whole line.
func TestUpdateLogThatEndsEarlyIsNotWhole(t *testing.T) {
	for _, before := range []int{0, 1, 3} {
		dir := rundir.Directory(t.TempDir())
		order := record.Order{Settings: map[string]string{"seed": "1"}}
		log, err := dir.OpenUpdateLog(order, true)
		for number := range before {
			err = errors.Join(err, log.Add(record.Update{Update: number}))
		}
		if err != nil {
			t.Fatal(err)
		}
		rundir.Break(log)
		first, second := log.Add(record.Update{Update: before}), log.Add(record.Update{})
		if first == nil || second != first || log.Close() != first {
			t.Errorf("got %v and %v, want the first error", first, second)
		}
		path := dir.Path(rundir.UpdatesFile)
		if _, _, err := rundir.ReadUpdates(path); err == nil || !strings.Contains(err.Error(), "not whole") {
			t.Errorf("after %d updates: %v", before, err)
		}
		d, err := rundir.Reclaim(string(dir), 9, nil)
		if err != nil {
			t.Fatal(err)
		}
		d.Unlock()
		if before == 0 {
			continue
		}
		if _, kept, err := rundir.ReadUpdates(path); err != nil || len(kept) != before-1 {
			t.Errorf("resumed after %d updates: %d, %v", before, len(kept), err)
		}
	}
}

// So it is with lines of another host.
func TestKeptUpdatesThatEndEarlyAreNotWhole(t *testing.T) {
	dir := rundir.Directory(t.TempDir())
	path := dir.Path(rundir.UpdatesFile)
	if err := os.Symlink("/dev/full", path); err != nil {
		t.Skip(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Skip(err)
	}
	if err := dir.KeepUpdates([]byte("{}\n")); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("got %v, want that the disk is full", err)
	}
}

// A pipe is refused: opening it would wait for the other end.
func TestReadUpdatesRefusesAPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	_, _, err := rundir.ReadUpdates(path)
	if err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("got %v", err)
	}
}
