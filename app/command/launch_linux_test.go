package command

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"lockstep/cluster/clustertest"
)

// hashIn returns the hash of the parameters that a summary gives.
func hashIn(text string) string {
	found := regexp.MustCompile(`"parameter_sha256": "(\w{64})"`).FindStringSubmatch(text)
	if found == nil {
		return "none in " + text
	}
	return found[1]
}

// Three hosts that have nothing of ours train with one command, and end with the hash of one machine.
func TestLaunchOverSSH(t *testing.T) {
	t.Parallel()
	s := startHosts(t, 3)
	const steps = "6"
	status, want, stderr := execute("train", "--steps", steps, "--shards", "6", "--quiet", "--json", "--out",
		filepath.Join(t.TempDir(), "one"))
	if status != 0 {
		t.Fatal(stderr)
	}
	l := s.launch(t, "--hosts", "h1:2,h2:2,h3:2", "--", "train", "--steps", steps, "--quiet", "--json")
	l.ends(t, 0)
	if got := hashIn(l.stdout.String()); got != hashIn(want) {
		t.Errorf("hash %s, want %s", got, hashIn(want))
	}
	if want := `"encryption": "tls"`; !strings.Contains(l.stdout.String(), want) {
		t.Errorf("the summary is without %s", want)
	}
	folders := []string{l.folder}
	for host := 1; host <= 3; host++ {
		folders = append(folders, s.home(host))
		binaries, _ := filepath.Glob(filepath.Join(s.home(host), "lockstep", "bin", "*", "*"))
		if len(binaries) != 1 || filepath.Base(binaries[0]) != "lockstep" {
			t.Errorf("host %d: programs %v, want one", host, binaries)
		}
		if jobs, _ := filepath.Glob(filepath.Join(s.home(host), "lockstep", "jobs", "*")); jobs != nil {
			t.Errorf("host %d: left %v", host, jobs)
		}
	}
	if found := clustertest.Leaks(folders); len(found) > 0 {
		t.Errorf("secrets are in %q", found)
	}
	if found, _ := filepath.Glob(filepath.Join(l.folder, "runs", "*", "report.html")); len(found) != 1 {
		t.Errorf("reports %v, want one", found)
	}
	s.isDeserted(t)

	t.Run("with files", func(t *testing.T) {
		elsewhere := t.TempDir()
		found, _ := filepath.Glob(filepath.Join(l.folder, "runs", "*"))
		weights := filepath.Join(found[0], "model.safetensors")
		s.write(t, filepath.Join(elsewhere, "mine.yaml"), "batch: 32\n")
		out := filepath.Join(elsewhere, "out")
		l := s.launch(t, "--hosts", "h1,h2", "--", "train", "--steps", "2", "--quiet", "--weights", weights,
			"--config", filepath.Join(elsewhere, "mine.yaml"), "--out", out)
		l.ends(t, 0)
		if strings.Contains(l.stderr.String(), "copying") {
			t.Errorf("the program was copied again: %s", l.stderr.String())
		}
		for name, want := range map[string]string{"config.yaml": "batch: " +
			"32", "summary.json": "", "rank0.log": "",
			"report.html": "", "steps.jsonl": `"rank":1`} {
			if text, err := os.ReadFile(filepath.Join(out, name)); err != nil ||
				!strings.Contains(string(text), want) {
				t.Errorf("%s: %v, without %q", name, err, want)
			}
		}
	})
	t.Run("with a failure", func(t *testing.T) {
		l := s.launch(t, "--hosts", "h1,h2", "--", "train", "--steps", "50", "--lr", "1000000",
			"--quiet", "--out",
			"failed")
		l.ends(t, 7)
		if _, err := os.Stat(filepath.Join(l.folder, "failed", "steps.jsonl")); err != nil {
			t.Errorf("%v; %s", err, l.stderr.String())
		}
	})
}

// What is wrong with a host is said within ten seconds, by its own sentence and with status 4.
func TestHostsThatCannotBeReached(t *testing.T) {
	s := startHosts(t, 1)
	other := s.key(t, "other")
	alias := func(name, host, more string) {
		s.addTo(t, "ssh_config", "Host "+name+"\nHostName "+host+"\nUser root\nIdentityFile "+
			""+s.folder+"/user\n"+
			"IdentitiesOnly yes\nIdentityAgent none\nUserKnownHostsFile "+s.folder+"/known_hosts\n"+
			"GlobalKnownHostsFile /dev/null\n"+more+"\n\n")
	}
	s.write(t, filepath.Join(s.folder, "wrong_hosts"), address(1)+" "+other)
	s.write(t, filepath.Join(s.folder, "no_hosts"), "")
	s.in(t, 0, "ip", "route", "add", "blackhole", "10.89.0.0/24")
	alias("absent", "10.88.0.77", "")
	alias("unrouted", "10.91.0.1", "")
	alias("refusing", "10.88.0.254", "")
	alias("unnamed", "host.invalid", "")
	config := func(name string, replace ...string) string {
		text, _ := os.ReadFile(filepath.Join(s.folder, "ssh_config"))
		s.write(t, filepath.Join(s.folder, name), strings.NewReplacer(replace...).Replace(string(text)))
		return "ssh -F " + filepath.Join(s.folder, name)
	}
	for _, test := range []struct{ name, host, ssh, want string }{
		{"changed key", "h1", config("changed", "/known_hosts", "/wrong_hosts"), "another host key than " +
			"before"},
		{"unknown key", "h1", config("unknown", "/known_hosts", "/no_hosts"), "not in known_hosts"},
		{"nothing there", "absent", "", "ssh has ended without an answer .*No route to host"},
		{"no route", "unrouted", "", "Network is unreachable"},
		{"no sshd", "refusing", "", "Connection refused"},
		{"no name", "unnamed", "", "Could not resolve hostname|Name or service not known"},
		{"another key", "h1", config("keyed", "/user\n", "/other\n"), "does not accept the user's keys"},
		{"another user", "nobody@h1", "", "ssh-copy-id nobody@h1"},
		{"no key", "h1", config("keyless", "/user\n", "/none\n"), "or ssh has none to offer"},
		{"no ssh", "h1", "/nonexistent/ssh", "install OpenSSH's client, or name one with --ssh"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			arguments := []string{"--hosts", test.host, "--", "train"}
			if test.ssh != "" {
				arguments = append([]string{"--ssh", test.ssh}, arguments...)
			}
			l := s.launch(t, arguments...)
			l.ends(t, 4)
			took, text := time.Since(l.began), l.stderr.String()
			if took > time.Minute {
				t.Errorf("took %v", took)
			}
			keepRefusal(t, test.name, "", 4, took, text)
			if !regexp.MustCompile(test.want).MatchString(text) || !strings.Contains(text, "host "+
				""+test.host+": ") {
				t.Errorf("%q, want %q", text, test.want)
			}
		})
	}
	t.Cleanup(func() {
		if text, _ := os.ReadFile(filepath.Join(s.folder, "no_hosts")); len(text) > 0 {
			t.Errorf("accepted a key: %s", text)
		}
	})
}

// However a console ends, nothing is left on any host: one is killed, and one is stopped, as by a laptop that
// is closed.
func TestNothingOutlivesTheConsole(t *testing.T) {
	t.Parallel()
	s := startHosts(t, 2)
	killed := s.launch(t, "--hosts", "h1:1,h2:1", "--", "train", "--epochs", "2000")
	stopped := s.launch(t, "--hosts", "h1:1,h2:1", "--", "train", "--epochs", "2000", "--out", "stopped")
	killed.trains(t, s)
	stopped.trains(t, s)
	stopped.Process.Signal(syscall.SIGSTOP)
	killed.Process.Kill()
	killed.Wait() // killed
	s.isDeserted(t)
	stopped.Process.Signal(syscall.SIGCONT)
	stopped.ends(t, 5)
	// Either of console and agent may be the first to notice.
	want := regexp.MustCompile(`host h\d is lost: (its agent has ended: it has )?heard nothing ` +
		`(from this console )?for 10 s`)
	if !want.MatchString(stopped.stderr.String()) {
		t.Errorf("%s, want %s", stopped.stderr.String(), want)
	}
}

// waitFor waits until something is.
func waitFor(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("waited in vain: ", what)
		}
	}
}

// What is wrong with the machine of a host is said within ten seconds, with the status that the error has,
// and leaves nothing there.
func TestHostsThatAreUnfit(t *testing.T) {
	t.Parallel()
	s := startHosts(t, 2)
	bashrc := filepath.Join(s.home(2), ".bashrc")
	tools := filepath.Join(s.home(2), "tools")
	uname := filepath.Join(tools, "uname")
	s.write(t, uname, "#!/bin/sh\n"+
		`if [ "$1" = -sm ]; then echo Linux aarch64; else exec /bin/uname "$@"; fi`+"\n")
	if err := os.Chmod(uname, 0o755); err != nil {
		t.Fatal(err)
	}
	cache := filepath.Join(s.home(2), "lockstep")
	small := func() {
		err := os.MkdirAll(cache, 0o755)
		if err == nil {
			err = syscall.Mount("tmpfs", cache, "tmpfs", 0, "size=1m")
		}
		if err != nil {
			t.Skip("no small disk: ", err)
		}
	}
	for _, test := range []struct {
		name, bashrc string
		prepare      func()
		status       int
		want         string
	}{
		{"full disk: program", "", small, 4,
			"host h2: the program could not be copied to it: .*No space left"},
		{"clock an hour ahead", "export " + clockAhead + "=1h", nil, 4,
			"the clock of h2 is 1h0m0s ahead of that of h1: its processes take the token"},
		{"another architecture", "export PATH=" + tools + ":$PATH", nil, 4, "host h2: it is " +
			"linux/arm64, and this program is for .*; build one with GOOS=linux GOARCH=arm64 go build"},
	} {
		s.write(t, bashrc, test.bashrc+"\n")
		if test.prepare != nil {
			test.prepare()
		}
		l := s.launch(t, "--hosts", "h1,h2", "--", "train", "--steps", "2")
		l.ends(t, test.status)
		keepRefusal(t, test.name, "", test.status, time.Since(l.began), l.stderr.String())
		if test.prepare != nil {
			syscall.Unmount(cache, 0) // nothing is left there
		}
		if took := time.Since(l.began); took > time.Minute {
			t.Errorf("%s: took %v", test.name, took)
		}
		if text := l.stderr.String(); !regexp.MustCompile(test.want).MatchString(text) {
			t.Errorf("%s: %q, want %q", test.name, text, test.want)
		}
		s.isDeserted(t)
		s.write(t, filepath.Join(l.folder, "said"), l.stdout.String()+l.stderr.String())
		if found := clustertest.Leaks([]string{l.folder, s.home(1), s.home(2)}); len(found) > 0 {
			t.Errorf("%s: secrets are in %q", test.name, found)
		}
	}
}

// trains waits until workers run on all hosts.
func (l *launched) trains(t *testing.T, s *sshHosts) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		workers := 0
		for space := 1; space < len(s.spaces); space++ {
			if strings.Contains(strings.Join(s.processes(t, space), "\n"), " worker") {
				workers++
			}
		}
		if workers == len(s.spaces)-1 && strings.Contains(l.stderr.String(), "step ") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("no workers: %s", l.stderr.String())
		}
	}
}
