package agent

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"lockstep/cluster"
	"lockstep/internal/regular"
)

// TestMain lets the test binary act as an agent.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == Argument {
		self, err := os.Executable()
		if err != nil {
			panic(err)
		}
		hash, err := regular.Hash(self)
		if err != nil {
			panic(err)
		}
		if len(os.Args) > 2 {
			os.Stdout.WriteString(hash + "\n")
			return
		}
		agent := Agent{In: os.Stdin, Out: os.Stdout, Answer: echo, Status: func(error) int { return 1 },
			Hello: Hello{Version: "test", Hash: hash, PID: os.Getpid(),
				Platform: runtime.GOOS + "/" + runtime.GOARCH}}
		if agent.Serve(context.Background()) != nil {
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// console returns a console whose program is this test.
func console(t *testing.T) Console {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	hash, err := regular.Hash(self)
	if err != nil {
		t.Fatal(err)
	}
	return Console{Program: self, Hash: hash, Version: "test", SSH: []string{"ssh"},
		Environment: cluster.ProcessEnvironment(), Notice: func(text string) { t.Log(text) }}
}

func TestDialHere(t *testing.T) {
	c := console(t)
	a, err := c.Dial(t.Context(), Host{Name: "localhost", Slots: 1})
	if err != nil {
		t.Fatal(err)
	}
	got, err := a.Ask(t.Context(), "x", json.RawMessage(`"there"`))
	if string(got) != `"there"` || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	a.Close()
	if p, _ := os.FindProcess(a.Hello.PID); p.Signal(os.Interrupt) == nil {
		t.Error("the agent has not ended")
	}
	c.Version = "other"
	if _, err := c.Dial(t.Context(), Host{Name: "localhost"}); err == nil ||
		!strings.Contains(err.Error(), `version "test" and this one "other"`) {
		t.Errorf("another version: %v", err)
	}
	c.Version, c.Hash = "test", strings.Repeat("0", 64)
	if _, err := c.Dial(t.Context(), Host{Name: "localhost"}); err == nil ||
		!strings.Contains(err.Error(), "expected") {
		t.Errorf("another hash: %v", err)
	}
	c.Program = "/bin/true"
	if _, err := c.Dial(t.Context(), Host{Name: "localhost"}); !errors.As(err, new(*HostError)) {
		t.Errorf("no agent: %v", err)
	}
}

// A killed agent is a lost host.
func TestKilledAgentIsLost(t *testing.T) {
	a, err := console(t).Dial(t.Context(), Host{Name: "localhost", Slots: 1})
	if err != nil {
		t.Fatal(err)
	}
	p, _ := os.FindProcess(a.Hello.PID)
	p.Kill()
	select {
	case <-a.Done():
		if !a.Err().IsLost || a.Err().Host != "localhost" {
			t.Error(a.Err())
		}
	case <-time.After(30 * time.Second):
		t.Error("not noticed")
	}
	a.Close()
}

// A host whose shell never comes to the command, or cannot run it, is an error and not a wait without end.
func TestShellsThatDoNotAnswer(t *testing.T) {
	for shell, want := range map[string]string{
		"exec yes word":                               "prints too much",
		"tr '\\0' x </dev/zero":                       "prints too much",
		"exec >&-; exec sleep 60":                     "ended without an answer",
		"echo why >&2; exit 255":                      "ssh has ended without an answer (why)",
		"echo This account is not available.; exit 1": "(This account is not available.)",
		"exit 3": "ended with status 3 before it came to our command: is it nologin, or does its " +
			".bashrc or .profile exit? See what ssh elsewhere echo hello prints",
		"export PATH=; eval \"$0\"":              "with status 127 before it came to our command: ",
		"unset HOME XDG_CACHE_HOME; eval \"$0\"": "HOME: is not set",
	} {
		c := console(t)
		// The last of ssh's arguments is what the login shell of the host gets.
		c.SSH = []string{"/bin/sh", "-c", `for last; do :; done; exec /bin/sh -c "$0" "$last"`, shell}
		started := time.Now()
		_, err := c.Dial(t.Context(), Host{Name: "elsewhere", Slots: 1})
		if e := new(HostError); !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", shell, err, want)
		}
		if took := time.Since(started); took > connectTime {
			t.Errorf("%s: took %v", shell, took)
		}
	}
}

func TestIsHere(t *testing.T) {
	name, _ := os.Hostname()
	for host, want := range map[string]bool{"localhost": true, "127.0.0.1": true, "127.3.2.1": true,
		"::1": true,
		name:  true, strings.ToUpper(name): true, "me@localhost": false, "192.0.2.1": false,
		"elsewhere": false} {
		if IsHere(host) != want {
			t.Errorf("%s: %v, want %v", host, !want, want)
		}
	}
}

func TestPlatforms(t *testing.T) {
	for uname, want := range map[string]string{"Linux x86_64": "linux/amd64", "Linux aarch64": "linux/arm64",
		"Darwin arm64": "darwin/arm64", "FreeBSD amd64": "freebsd/amd64", "Linux riscv64": "linux/riscv64"} {
		if got := platformOf(uname); got != want {
			t.Errorf("%s: %s, want %s", uname, got, want)
		}
	}
}
