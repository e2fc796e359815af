package agent

import (
	"fmt"
	"os"
	"runtime"
	"strings"

	"lockstep/internal/regular"
)

// binary is a file with this program.
type binary struct {
	path, hash string
	size       int64
}

// openBinary returns the file at path as a binary.
func openBinary(path string) (b binary, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return b, err
	}
	if !info.Mode().IsRegular() {
		return b, fmt.Errorf("%s is no file", path)
	}
	hash, err := regular.Hash(path)
	return binary{path, hash, info.Size()}, err
}

// platformOf returns the platform of a host, such as linux/arm64, from what uname -sm says there. Names that
// it does not know are returned as they are.
func platformOf(uname string) string {
	system, machine, _ := strings.Cut(strings.ToLower(uname), " ")
	known := map[string]string{"x86_64": "amd64", "aarch64": "arm64", "armv7l": "arm", "armv6l": "arm",
		"i386": "386", "i686": "386", "ppc64el": "ppc64le"}
	if name, ok := known[machine]; ok {
		machine = name
	}
	return system + "/" + machine
}

// program returns this program for a platform: itself, or what the user has given.
func (c Console) program(platform string) (binary, error) {
	if path, ok := c.Binaries[platform]; ok {
		b, err := openBinary(path)
		if err != nil {
			err = fmt.Errorf("--binary %s: %w", platform, err)
		}
		return b, err
	}
	if platform == runtime.GOOS+"/"+runtime.GOARCH {
		return openBinary(c.Program)
	}
	system, machine, _ := strings.Cut(platform, "/")
	return binary{}, fmt.Errorf("it is %s, and this program is for %s/%s; build one with GOOS=%s "+
		"GOARCH=%s go build ./cmd/lockstep, and give it with --binary %s=PATH", platform, runtime.GOOS,
		runtime.GOARCH, system, machine, platform)
}
