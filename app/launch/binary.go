package launch

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
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

// CheckProgram refuses a file that is not this program built for a platform, such as linux/arm64.
func CheckProgram(path, platform string) error {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return fmt.Errorf("%s is not this program: %w", path, err)
	}
	const unnamed = "command-line-arguments" // of go run and go build FILE
	own, ok := debug.ReadBuildInfo()
	if ok && own.Path != info.Path && own.Path != unnamed && info.Path != unnamed {
		return fmt.Errorf("%s is the program %s, and this is %s", path, info.Path, own.Path)
	}
	built := map[string]string{}
	for _, s := range info.Settings {
		built[s.Key] = s.Value
	}
	if got := built["GOOS"] + "/" + built["GOARCH"]; got != platform {
		return fmt.Errorf("%s is built for %s", path, got)
	}
	return nil
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

// program returns this program for a platform: itself, what the user has given, or what the Go toolchain
// makes of the module's source, if both are here.
func (c Console) program(ctx context.Context, platform string) (binary, error) {
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
	lacks := fmt.Errorf("it is %s, and this program is for %s/%s; build one with GOOS=%s GOARCH=%s go build "+
		"./cmd/lockstep, and give it with --binary %s=PATH", platform, runtime.GOOS, runtime.GOARCH, system,
		machine, platform)
	source, found := moduleFolder()
	compiler, err := exec.LookPath("go")
	if !found || err != nil {
		return binary{}, lacks
	}
	c.Notice("building the program for " + platform)
	return c.build(ctx, compiler, source, system, machine)
}

// build compiles the module in the folder source for another platform.
func (c Console) build(ctx context.Context, compiler, source, system, machine string) (binary, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return binary{}, err
	}
	path := filepath.Join(cache, "lockstep", "build", system+"-"+machine, "lockstep")
	command := exec.CommandContext(ctx, compiler, "build", "-trimpath", "-o", path, "./cmd/lockstep")
	command.Dir = source
	command.Env = append(c.Environment.Pairs(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+machine)
	words := &lastBytes{}
	command.Stdout, command.Stderr = words, words
	if err := command.Run(); err != nil {
		return binary{}, fmt.Errorf("build the program for %s/%s: %w%s; give one with --binary %s/%s=PATH",
			system, machine, err, said(words.last()), system, machine)
	}
	return openBinary(path)
}

// moduleFolder returns the root of this module's source if the current folder is in it.
func moduleFolder() (string, bool) {
	folder, err := os.Getwd()
	if err != nil {
		return "", false
	}
	for {
		text, err := regular.ReadFile(filepath.Join(folder, "go.mod"), 1<<20)
		if err == nil {
			return folder, strings.HasPrefix(string(text), "module lockstep\n")
		}
		above := filepath.Dir(folder)
		if above == folder {
			return "", false
		}
		folder = above
	}
}
