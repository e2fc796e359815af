//go:build !(linux || darwin || freebsd)

package rundir

// FreeBytes does not know.
func (d Directory) FreeBytes() (bytes int64, isKnown bool) { return 0, false }
