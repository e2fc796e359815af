package checkpoint_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"lockstep/checkpoint"
)

var errDisk = errors.New("input/output error")

// faulty is a disk whose n-th call fails, and with dead set every one after it, as when the process
// is killed there. What was written and not synced by then may be lost.
type faulty struct {
	checkpoint.Disk
	at, calls int
	dead      bool
	unsynced  map[string]int64 // size that is safe, by path
}

func (d *faulty) fails() bool {
	d.calls++
	return d.calls == d.at || d.dead && d.calls > d.at
}

func (d *faulty) MakeFolder(path string) error {
	if d.fails() {
		return errDisk
	}
	return d.Disk.MakeFolder(path)
}

func (d *faulty) Create(path string) (checkpoint.DiskFile, error) {
	if d.fails() {
		return nil, errDisk
	}
	f, err := d.Disk.Create(path)
	d.unsynced[path] = 0
	return &faultyFile{f, d, path}, err
}

func (d *faulty) Rename(from, to string) error {
	if d.fails() {
		return errDisk
	}
	for path, size := range d.unsynced {
		if rest, err := filepath.Rel(from, path); err == nil && filepath.IsLocal(rest) {
			delete(d.unsynced, path)
			d.unsynced[filepath.Join(to, rest)] = size
		}
	}
	return d.Disk.Rename(from, to)
}

func (d *faulty) SyncFolder(path string) error {
	if d.fails() {
		return errDisk
	}
	return d.Disk.SyncFolder(path)
}

func (d *faulty) Remove(path string) error {
	if d.fails() {
		return errDisk
	}
	return d.Disk.Remove(path)
}

// lose cuts every file that was not synced.
func (d *faulty) lose(t *testing.T) {
	t.Helper()
	for path, size := range d.unsynced {
		if err := os.Truncate(path, size); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
}

type faultyFile struct {
	checkpoint.DiskFile
	disk *faulty
	path string
}

func (f *faultyFile) Write(p []byte) (int, error) {
	if f.disk.fails() {
		n, _ := f.DiskFile.Write(p[:len(p)/2])
		return n, errDisk
	}
	return f.DiskFile.Write(p)
}

func (f *faultyFile) Sync() error {
	if f.disk.fails() {
		return errDisk
	}
	err := f.DiskFile.Sync()
	delete(f.disk.unsynced, f.path)
	return err
}

func (f *faultyFile) Close() error {
	err := f.DiskFile.Close()
	if f.disk.fails() {
		return errDisk
	}
	return err
}

// The n-th write, sync, rename or other call of a commit fails, for every n, once or for ever: the
// error is a *WriteError, a valid checkpoint is there before and after, it is the new one only if
// everything about it had reached the disk, and the next commit goes well.
func TestEveryCallOfACommitMayFail(t *testing.T) {
	for _, dead := range []bool{false, true} {
		for at := 1; ; at++ {
			folder := filepath.Join(t.TempDir(), "checkpoints")
			good := checkpoint.NewStore(folder)
			commit(t, good, 1)
			commit(t, good, 2)
			d := &faulty{Disk: checkpoint.SystemDisk(), at: at, dead: dead, unsynced: map[string]int64{}}
			_, err := checkpoint.NewStoreOn(folder, d).Commit(3, note{"3"}, files(3))
			d.lose(t)
			if d.calls < at {
				if err != nil {
					t.Errorf("no call failed: %v", err)
				}
				if at < 20 {
					t.Errorf("a commit of %d calls, want more", at-1)
				}
				break
			}
			var failed *checkpoint.WriteError
			// The removal of what is left over may fail without harm after another error only.
			if !errors.As(err, &failed) || !errors.Is(err, errDisk) {
				t.Errorf("call %d: error %v", at, err)
			}
			if step, faults := newest(t, good); step != 2 && step != 3 || faults > 0 {
				t.Errorf("call %d, dead %v: newest %d, %d faults", at, dead, step, faults)
			}
			commit(t, good, 4)
			if step, faults := newest(t, good); step != 4 || faults > 0 || good.Count() != 2 {
				t.Errorf("call %d, dead %v: then newest %d of %d", at, dead, step, good.Count())
			}
		}
	}
}
