package transfer

import "fmt"

// VersionError reports a file that a host has with other contents.
type VersionError struct {
	Host        string
	Path        string // on the host
	Here, There string // SHA-256 in hexadecimal
}

// Error names both versions.
func (e *VersionError) Error() string {
	return fmt.Sprintf("host %s: %s is another version: sha256 %.12s there, %.12s here; remove one of the "+
		"two",
		e.Host, e.Path, e.There, e.Here)
}

// FullError reports a host without the room for the files.
type FullError struct {
	Host       string
	Folder     string // on the host
	Need, Free int64  // bytes
}

// Error says how much is needed.
func (e *FullError) Error() string {
	return fmt.Sprintf("host %s: no room for the files in %s: %s are needed and %s are to stay free, %s are "+
		"free; free some room or set XDG_CACHE_HOME there", e.Host, e.Folder, mib(e.Need), mib(slack),
		mib(e.Free))
}

// CutError reports a connection that broke, or over which nothing came, for good.
type CutError struct {
	Host        string
	Done, Total int64 // bytes
	Err         error
}

// Error says how much had arrived.
func (e *CutError) Error() string {
	return fmt.Sprintf("host %s: sending files broke off after %s of %s (kept there; the next start goes "+
		"on): %v",
		e.Host, mib(e.Done), mib(e.Total), e.Err)
}

// Unwrap returns the cause.
func (e *CutError) Unwrap() error { return e.Err }

// HostError reports what else went wrong on a host, such as a folder that cannot be written to.
type HostError struct {
	Host string
	Text string
}

// Error names the host.
func (e *HostError) Error() string { return fmt.Sprintf("host %s: receive files: %s", e.Host, e.Text) }

// mib formats a size in MiB, rounded up.
func mib(n int64) string { return fmt.Sprintf("%d MiB", (n+1<<20-1)>>20) }
