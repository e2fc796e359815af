package host

import (
	"testing"

	"golang.org/x/sys/unix"
)

// Pages that are there twice count once.
func TestPeakMemoryCountsSharedPagesOnce(t *testing.T) {
	const size = 64 << 20
	file, err := unix.MemfdCreate("shared", 0)
	if err != nil {
		t.Skip(err)
	}
	defer unix.Close(file)
	if err := unix.Ftruncate(file, size); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		pages, err := unix.Mmap(file, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Munmap(pages)
		for i := 0; i < size; i += 4096 {
			pages[i] = 1
		}
	}
	if entryBytes("/proc/self/smaps_rollup", "Pss_Shmem:") == 0 {
		t.Skip("the system does not tell what is shared")
	}
	if all, once := PeakRSS(), PeakMemory(); all < 2*size || once < size || all-once < size*9/10 {
		t.Errorf("%d bytes at most, %d with shared ones once; want those to be %d fewer", all, once, size)
	}
}
