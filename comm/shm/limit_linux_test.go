package shm_test

import (
	"testing"

	"golang.org/x/sys/unix"

	"lockstep/comm"
)

// Where address space is limited, as on machines shared by jobs, a segment has no arenas and
// messages are copied.
func TestLimitedAddresses(t *testing.T) {
	var former unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &former); err != nil {
		t.Skip(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_AS, &unix.Rlimit{Cur: 1 << 45, Max: former.Max}); err != nil {
		t.Skip(err)
	}
	meshes := connect(t, 2)
	if err := unix.Setrlimit(unix.RLIMIT_AS, &former); err != nil {
		t.Fatal(err)
	}
	for _, m := range meshes {
		defer m.Close()
	}
	if v := meshes[0].(comm.Allocator).Alloc(1); v != nil {
		t.Error("an arena in spite of the limit")
	}
	if n, err := meshes[0].Send(1, nil, comm.Bytes(comm.Alloc(meshes[0], 40<<10))); n == 0 || err != nil {
		t.Errorf("sent %d, %v", n, err)
	}
}
