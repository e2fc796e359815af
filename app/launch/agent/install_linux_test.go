package agent

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"lockstep/internal/regular"
)

// A host that answers and then hangs, wherever it does so, is an error after stallTime.
func TestHangingInstallEnds(t *testing.T) {
	for name, shell := range map[string]string{
		"before it asks":    "exec sleep 60",
		"before it reads":   "echo lockstep-send; exec sleep 60",
		"while it reads":    "echo lockstep-send; head -c 100000 >&2; exec sleep 60",
		"after it has read": "echo lockstep-send; cat >&2; exit",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := console(t)
			c.stallTime = 300 * time.Millisecond
			c.Binaries = map[string]string{"linux/amd64": c.Program}
			c.SSH = []string{"/bin/sh", "-c", `echo lockstep-host Linux x86_64; exec /bin/sh -c "$0"`, shell}
			began := time.Now()
			_, err := c.Dial(t.Context(), Host{Name: "elsewhere", Slots: 1})
			want := "host elsewhere: no byte of the program has got through for 300ms"
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

// A host that hangs, or is lost, while results are fetched is named after stallTime, and where they are is
// said.
func TestResultsOfAHangingHost(t *testing.T) {
	a := &Connection{Host: Host{Name: "elsewhere"}, Hello: Hello{Jobs: "/jobs"}}
	const begin = "echo; echo lockstep-begins; "
	for shell, want := range map[string]string{
		"exec sleep 60": "nothing of the results, which stay in /jobs/j there, has come for 300ms",
		begin + "head -c 100 /dev/zero; exec sleep 60": "has come for 300ms",
		begin + "exec sleep 60":                        "has come for 300ms",
		begin + "read -r asked; echo gone >&2":         "(gone)",
		begin + "read -r asked; exit":                  "which stay in /jobs/j there, did not come: EOF",
	} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			c := console(t)
			c.stallTime = 300 * time.Millisecond
			c.SSH = []string{"/bin/sh", "-c", shell}
			began := time.Now()
			err := c.Fetch(t.Context(), a, Fetch{Folder: "j", Name: "run"}, t.TempDir())
			if !IsLost(err) || !strings.HasPrefix(err.Error(), "host elsewhere is lost: ") ||
				!strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

// A slow host that always takes some more is no hanging one.
func TestSlowInstallIsPatient(t *testing.T) {
	c := console(t)
	c.stallTime = time.Second
	small := filepath.Join(t.TempDir(), "program")
	put(t, small, strings.Repeat("x", 300<<10))
	c.Binaries = map[string]string{"linux/amd64": small}
	c.SSH = []string{"/bin/sh", "-c", `exec /bin/sh -c "$0"`, `echo lockstep-host Linux x86_64; read -r h n
		echo lockstep-send; for i in 1 2 3 4 5 6 7 8; do head -c 32768 >/dev/null; sleep 0.4; done
		head -c 45056 >/dev/null; echo lockstep-failed after all`}
	began := time.Now()
	_, err := c.Dial(t.Context(), Host{Name: "elsewhere", Slots: 1})
	if err == nil || !strings.Contains(err.Error(), "after all") || time.Since(began) < 2*c.stallTime {
		t.Errorf("%v after %v", err, time.Since(began))
	}
}

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
	for _, want := range []string{"no program can be run from its cache folder", cache + "/lockstep/bin/",
		"its file system is mounted noexec; let XDG_CACHE_HOME name a"} {
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
	if err := CheckProgram(path, "linux/"+other); err != nil {
		t.Error(err)
	}
	err = CheckProgram(path, "linux/"+runtime.GOARCH)
	if err == nil || !strings.Contains(err.Error(), "is built for linux/"+other) {
		t.Errorf("for the wrong platform: %v", err)
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

func TestCheckProgramRefusesWhatIsNotThisProgram(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := CheckProgram(self, runtime.GOOS+"/"+runtime.GOARCH); err != nil {
		t.Error(err)
	}
	text := filepath.Join(t.TempDir(), "text")
	put(t, text, "no program")
	err = CheckProgram(text, "linux/amd64")
	if err == nil || !strings.Contains(err.Error(), "is not this program") {
		t.Errorf("a text: %v", err)
	}
}
