//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package checkpoint

import "os"

// openSource reads f without mapping it, and takes ownership of f.
func openSource(f *os.File, _ int64) source { return plain{f} }
