//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package checkpoint

import "os"

// openSource reads f plainly: this system's memory maps are not used. It takes f over.
func openSource(f *os.File, _ int64) source { return plain{f} }
