package command

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// cluster of sshds: each host is a network namespace with an sshd of its own, with its own host key, home
// and cache, joined by a bridge in the namespace of the console.
type sshHosts struct {
	folder  string
	spaces  []string    // network namespaces: the console's, then each host's
	sshds   []*exec.Cmd // by host
	console []string    // environment of the console
}

// startHosts makes so many hosts, which the console's ssh knows as h1, h2 and so on. It skips the test where
// that cannot be.
func startHosts(t *testing.T, n int) *sshHosts {
	t.Helper()
	for _, program := range []string{"/usr/sbin/sshd", "ssh", "ssh-keygen", "ip", "tc", "nsenter", "sleep"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("no hosts: ", err)
		}
	}
	if os.Getuid() != 0 {
		t.Skip("network namespaces and sshd need root")
	}
	if testing.Short() {
		t.Skip("starts several sshds")
	}
	s := &sshHosts{folder: t.TempDir()}
	for range n + 1 {
		s.newSpace(t)
	}
	s.in(t, 0, "ip", "link", "add", "switch", "type", "bridge")
	s.in(t, 0, "ip", "addr", "add", "10.88.0.254/24", "dev", "switch")
	s.in(t, 0, "ip", "link", "set", "switch", "up")
	s.key(t, "user")
	for host := 1; host <= n; host++ {
		s.join(t, host)
		s.startSSHD(t, host)
	}
	s.console = append(os.Environ(), "HOME="+s.folder, "XDG_CACHE_HOME="+s.folder, "LOCKSTEP_DATA=")
	return s
}

// newSpace makes a network namespace, which ends with the test.
func (s *sshHosts) newSpace(t *testing.T) {
	t.Helper()
	holder := exec.Command("sleep", "infinity")
	holder.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	if err := holder.Start(); err != nil {
		t.Skip("no network namespace: ", err)
	}
	t.Cleanup(func() {
		holder.Process.Kill()
		holder.Wait() // killed
	})
	s.spaces = append(s.spaces, strconv.Itoa(holder.Process.Pid))
	s.in(t, len(s.spaces)-1, "ip", "link", "set", "lo", "up")
}

// enter returns the command line that runs a command in a namespace.
func (s *sshHosts) enter(space int, argv ...string) []string {
	return append([]string{"nsenter", "--net=/proc/" + s.spaces[space] + "/ns/net", "--"}, argv...)
}

// in runs a command in a namespace.
func (s *sshHosts) in(t *testing.T, space int, argv ...string) {
	t.Helper()
	argv = s.enter(space, argv...)
	if text, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
		t.Skipf("no hosts: %v: %v: %s", argv, err, text)
	}
}

// join connects a host with the console's namespace.
func (s *sshHosts) join(t *testing.T, host int) {
	t.Helper()
	port := fmt.Sprintf("port%d", host)
	s.in(t, 0, "ip", "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", s.spaces[host])
	s.in(t, 0, "ip", "link", "set", port, "master", "switch", "up")
	s.in(t, host, "ip", "addr", "add", address(host)+"/24", "dev", "eth0")
	s.in(t, host, "ip", "link", "set", "eth0", "up")
}

func address(host int) string { return fmt.Sprintf("10.88.0.%d", host) }

// key makes a key and returns its public line.
func (s *sshHosts) key(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(s.folder, name)
	if text, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path).
		CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	line, err := os.ReadFile(path + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	return string(line)
}

// home is the home of a host's user, which is also its cache.
func (s *sshHosts) home(host int) string { return filepath.Join(s.folder, fmt.Sprintf("home%d", host)) }

// startSSHD starts the sshd of a host, and lets the console know it.
func (s *sshHosts) startSSHD(t *testing.T, host int) {
	t.Helper()
	home, name := s.home(host), fmt.Sprintf("h%d", host)
	s.write(t, filepath.Join(home, ".bashrc"), "printf "+name+"\n")
	for _, folder := range []string{"/run/sshd", filepath.Join(home, "data")} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Skip("no sshd: ", err)
		}
	}
	s.addTo(t, "known_hosts", address(host)+" "+s.key(t, name+"-key"))
	s.addTo(t, "ssh_config", fmt.Sprintf("Host %[1]s\nHostName %[2]s\nUser root\nIdentityFile %[3]s/user\n"+
		"IdentitiesOnly yes\nIdentityAgent none\nUserKnownHostsFile %[3]s/known_hosts\n"+
		"GlobalKnownHostsFile /dev/null\n\n", name, address(host), s.folder))
	config := filepath.Join(s.folder, name+".conf")
	s.write(t, config, fmt.Sprintf("Port 22\nListenAddress %s\nHostKey %s\nAuthorizedKeysFile %s\n"+
		"PidFile none\nUsePAM no\nStrictModes no\nPermitRootLogin yes\nPasswordAuthentication no\n"+
		"ClientAliveInterval 3\nClientAliveCountMax 2\n"+
		"SetEnv HOME=%[4]s XDG_CACHE_HOME=%[4]s LOCKSTEP_DATA=%[4]s/data\n", address(host),
		filepath.Join(s.folder, name+"-key"), filepath.Join(s.folder, "user.pub"), home))
	argv := s.enter(host, "/usr/sbin/sshd", "-D", "-e", "-f", config)
	sshd, log := exec.Command(argv[0], argv[1:]...), &shared{}
	sshd.Stderr = log
	sshd.WaitDelay = time.Second // for a session whose other end is cut off, which has the same stream
	sshd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := sshd.Start(); err != nil {
		t.Skip("no sshd: ", err)
	}
	s.sshds = append(s.sshds, sshd)
	t.Cleanup(func() {
		sshd.Process.Kill()
		sshd.Wait() // killed
		if t.Failed() {
			t.Logf("sshd of %s: %s", name, log.String())
		}
	})
	for deadline := time.Now().Add(time.Minute); !strings.Contains(log.String(), "listening"); {
		if time.Now().After(deadline) {
			t.Skip("no sshd: ", log.String())
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (s *sshHosts) write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// addTo adds text to a file of the console's.
func (s *sshHosts) addTo(t *testing.T, name, text string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(s.folder, name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err == nil {
		_, err = f.WriteString(text)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// launched is a console at work.
type launched struct {
	*exec.Cmd
	folder         string // its current folder
	stdout, stderr shared
	began          time.Time
}

// launch starts `lockstep launch` with these arguments at the console.
func (s *sshHosts) launch(t *testing.T, arguments ...string) *launched {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	argv := s.enter(0, self, "launch", "--ssh", "ssh -F "+filepath.Join(s.folder, "ssh_config"))
	argv = append(argv, arguments...)
	l := &launched{Cmd: exec.Command(argv[0], argv[1:]...), folder: t.TempDir(), began: time.Now()}
	l.Dir, l.Env, l.Stdout, l.Stderr = l.folder, s.console, &l.stdout, &l.stderr
	l.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := l.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Process.Kill() }) // it has ended, unless the test failed
	return l
}

// ends waits for the console and checks its status.
func (l *launched) ends(t *testing.T, status int) {
	t.Helper()
	killer := time.AfterFunc(time.Minute, func() { l.Process.Kill() })
	defer killer.Stop()
	l.Wait() // the status is checked below
	if got := l.ProcessState.ExitCode(); got != status {
		t.Fatalf("exit status %d, want %d; stdout: %s; stderr: %s", got, status, l.stdout.String(),
			l.stderr.String())
	}
}

// processes returns the processes of ours in a namespace, with their command lines.
func (s *sshHosts) processes(t *testing.T, space int) []string {
	t.Helper()
	want, err := os.Readlink("/proc/" + s.spaces[space] + "/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	folders, _ := filepath.Glob("/proc/[0-9]*")
	var found []string
	for _, folder := range folders {
		if space, _ := os.Readlink(filepath.Join(folder, "ns", "net")); space != want {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(folder, "cmdline"))
		text := string(bytes.ReplaceAll(line, []byte{0}, []byte{' '}))
		if text != "" && !strings.HasPrefix(text, "sleep ") && !strings.Contains(text, "/usr/sbin/sshd") {
			found = append(found, filepath.Base(folder)+" "+text)
		}
	}
	return found
}

// isDeserted waits until nothing of a job runs on any host, for at most half a minute.
func (s *sshHosts) isDeserted(t *testing.T) {
	t.Helper()
	var left []string
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		left = nil
		for space := 1; space < len(s.spaces); space++ {
			for _, text := range s.processes(t, space) {
				if !strings.Contains(text, "sshd:") {
					left = append(left, fmt.Sprintf("h%d: %s", space, text))
				}
			}
		}
		if left == nil {
			return
		}
	}
	t.Errorf("left after half a minute: %s", strings.Join(left, "\n"))
}
