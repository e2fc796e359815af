package rundir_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"lockstep/app/record"
	"lockstep/app/rundir"
)

// A log is read as it was written, without dropped gradients; one that is resumed loses the lines of
// updates that are made again.
func TestUpdateLog(t *testing.T) {
	dir := rundir.Directory(t.TempDir())
	order := record.Order{Settings: map[string]string{"seed": "1"}, Steps: 3, PerEpoch: 2}
	write := func(done int, updates ...record.Update) {
		t.Helper()
		l, err := dir.OpenUpdateLog(order, done)
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
	first, second := record.Update{Update: 0, Batch: 1}, record.Update{Update: 1, Batch: 0, Staleness: 1}
	write(0, first, record.Update{Update: -1, Dropped: true}, second, record.Update{Update: 2, Batch: 2})
	third := record.Update{Update: 2, Batch: 2, Worker: 3, Version: 2}
	write(2, third)
	got, updates, err := rundir.ReadUpdates(dir.Path(rundir.UpdatesFile))
	if err != nil || !reflect.DeepEqual(got, order) ||
		!reflect.DeepEqual(updates, []record.Update{first, second, third}) {
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
