package agent

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"lockstep/internal/regular"
)

// host returns the ssh of a host that is this machine with another cache folder and, with a uname of its own,
// another platform.
func host(t *testing.T, cache, uname string) []string {
	t.Helper()
	tools := t.TempDir()
	if uname != "" {
		put(t, filepath.Join(tools, "uname"), "#!/bin/sh\necho "+uname+"\n")
		if err := os.Chmod(filepath.Join(tools, "uname"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return []string{"env", "XDG_CACHE_HOME=" + cache, "PATH=" + tools + ":" + os.Getenv("PATH"), "/bin/sh",
		"-c", `for last; do :; done; exec /bin/sh -c "$last"`, "ssh"}
}

// A cache folder from which nothing can be run is named, with what helps.
func TestNoexecCacheIsNamed(t *testing.T) {
	if os.Getuid() != 0 || exec.Command("unshare", "-m", "true").Run() != nil {
		t.Skip("mounting needs root")
	}
	cache := t.TempDir()
	c := console(t)
	c.SSH = append([]string{"unshare", "-m", "/bin/sh", "-c",
		`mount -t tmpfs -o noexec none "$0" && exec "$@"`, cache}, host(t, cache, "")...)
	_, err := c.Dial(t.Context(), Host{Name: "elsewhere", Slots: 1})
	for _, want := range []string{"the program could not be copied to it: ", cache + "/lockstep/bin/",
		"its file system is mounted noexec, so XDG_CACHE_HOME must name"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, without %q", err, want)
		}
	}
}

// crossBuild builds a program that does nothing for linux and a machine.
func crossBuild(t *testing.T, machine string) string {
	t.Helper()
	folder := t.TempDir()
	put(t, filepath.Join(folder, "main.go"), "package main\nfunc main() {}\n")
	build := exec.Command("go", "build", "-o", "program", "main.go")
	build.Dir, build.Env = folder, append(os.Environ(), "GOOS=linux", "GOARCH="+machine, "CGO_ENABLED=0")
	if text, err := build.CombinedOutput(); err != nil {
		t.Skipf("no compiler for %s: %v: %s", machine, err, text)
	}
	return filepath.Join(folder, "program")
}

// A host gets the program for its platform, and none if there is none.
func TestHostsGetTheProgramForTheirPlatform(t *testing.T) {
	if testing.Short() {
		t.Skip("builds for another architecture")
	}
	other, uname := "arm64", "Linux aarch64"
	if runtime.GOARCH == other {
		other, uname = "amd64", "Linux x86_64"
	}
	path := crossBuild(t, other)
	hash, err := regular.Hash(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir()) // where there is no source to build from
	cache := t.TempDir()
	c := console(t)
	c.SSH = host(t, cache, uname)
	_, err = c.Dial(t.Context(), Host{Name: "elsewhere", Slots: 1})
	if want := "it is linux/" + other + ", and this program is for " + runtime.GOOS + "/" + runtime.GOARCH +
		"; build one with GOOS=linux GOARCH=" + other; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("without a program: %v, want %s", err, want)
	}
	c.Binaries = map[string]string{"linux/" + other: path}
	_, err = c.Dial(t.Context(), Host{Name: "elsewhere", Slots: 1})
	if !errors.As(err, new(*HostError)) { // this machine cannot run it, or it says no hello
		t.Errorf("%v, want that the agent does not start", err)
	}
	got, err := regular.Hash(filepath.Join(cache, "lockstep", "bin", hash, "lockstep"))
	if err != nil || got != hash {
		t.Errorf("the host has %.12s, %v; want %.12s", got, err, hash)
	}
	if programs, _ := filepath.Glob(filepath.Join(cache, "lockstep", "bin", "*")); len(programs) != 1 {
		t.Errorf("the host has %v, want one program", programs)
	}
}
