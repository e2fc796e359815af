//go:build unix

package command

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"lockstep/app/job"
	"lockstep/cluster"
	"lockstep/cluster/pass"
)

// refusalTime bounds how long a process that may not join takes to say so.
const refusalTime = 10 * time.Second

// besieged is a job of three processes on several hosts, as which this machine counts. Rank 0 listens and
// waits.
type besieged struct {
	*jobOf
	address string
	token   string
	outside *jobOf // of those that do not belong to it
}

// listening starts rank 0.
func listening(t *testing.T) *besieged {
	t.Helper()
	token, err := pass.NewToken(12 * time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	b := &besieged{&jobOf{folder: folder}, free.Addr().String(), token.Reveal(), &jobOf{folder: folder}}
	free.Close()
	b.start(t, b.environment(0, b.address), shortRun...)
	(&running{}).until(t, "rank 0 listens", func() bool {
		conn, err := net.Dial("tcp", b.address)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	return b
}

// environment is that of a rank which dials an address; more replaces some of it.
func (b *besieged) environment(rank int, address string, more ...string) []string {
	host, port, _ := net.SplitHostPort(address)
	return append([]string{fmt.Sprintf("RANK=%d", rank), "WORLD_SIZE=3", "LOCAL_WORLD_SIZE=1",
		"MASTER_ADDR=" + host, "MASTER_PORT=" + port, cluster.EnvToken + "=" + b.token}, more...)
}

// refuses starts a process that does not get in, and checks what it says and what rank 0 says; "": nothing.
func (b *besieged) refuses(t *testing.T, name string, environment []string, want, wantHere string) {
	t.Helper()
	before, began := len(b.stderr[0].String()), time.Now()
	b.outside.start(t, environment, shortRun...)
	last := len(b.outside.processes) - 1
	stranger, said := b.outside.processes[last], b.outside.stderr[last]
	stranger.Wait() // the status is checked below
	took := time.Since(began)
	if took > refusalTime {
		t.Errorf("%s: took %v", name, took)
	}
	keepRefusal(t, name, "", stranger.ProcessState.ExitCode(), took, said.String())
	if got := stranger.ProcessState.ExitCode(); got != job.ExitRendezvous {
		t.Errorf("%s: status %d, want %d", name, got, job.ExitRendezvous)
	}
	if text := said.String(); !regexp.MustCompile(want).MatchString(text) || strings.Count(text, "\n") != 1 {
		t.Errorf("%s: it says %q, want one line with %s", name, text, want)
	}
	if wantHere != "" {
		b.says(t, name, before, "refused a process at 127.0.0.1:", wantHere)
	}
}

// says waits until rank 0 has said all of that after the beginning of its output.
func (b *besieged) says(t *testing.T, name string, before int, want ...string) {
	t.Helper()
	(&running{}).until(t, name+": rank 0 says "+strings.Join(want, "..."), func() bool {
		text := b.stderr[0].String()[before:]
		for _, part := range want {
			if !strings.Contains(text, part) {
				return false
			}
		}
		return true
	})
}

// part returns the token with another part.
func (b *besieged) part(number int, text string) string {
	parts := strings.Split(b.token, ".")
	parts[number] = text
	return cluster.EnvToken + "=" + strings.Join(parts, ".")
}

// Processes that do not belong to a job are told why within seconds, and end with status 4. Rank 0 says whom
// it has refused, goes on listening, and trains to the same end when the real ones have come. No file and no
// argument has a secret.
func TestWhoMayNotJoin(t *testing.T) {
	alone := startJob(t, 1, func(int) []string { return nil }, append(shortRun, "--workers", "3")...)
	alone.ends(t, job.ExitOK)
	b := listening(t)
	other := newToken(t)
	parts := strings.Split(other, ".")
	old := "20200101t0000z-00000000"
	as := func(more ...string) []string { return b.environment(2, b.address, more...) }
	const expired, skewed = "the token has expired: it was valid until 2020-01-01 00:00, now it is ",
		"the clocks of the two hosts differ by more than an hour; set them"
	b.refuses(t, "token of another run", as(other), "the token is of another run; give all", "another run")
	b.refuses(t, "wrong secret", as(b.part(3, parts[3])), "the token has a wrong secret",
		"secret")
	b.refuses(t, "wrong authority", as(b.part(2, parts[2])), "is not of the authority of the token",
		"authority")
	b.refuses(t, "expired token", as(b.part(1, old)), expired, "")
	b.refuses(t, "another start", as(cluster.EnvGeneration+"=7"), "rank 2 is of start 7 of the job",
		"start 7")
	b.refuses(t, "another world", as("WORLD_SIZE=4"), "rank 2 of 4 does not belong", "rank 2 of 4")
	b.refuses(t, "clock two hours ahead", as(clockAhead+"=2h"), skewed, "")
	b.refuses(t, "clock two hours behind", as(clockAhead+"=-2h"), skewed, "")
	b.refuses(t, "clock a day ahead", as(clockAhead+"=24h"), "the token has expired", "")
	b.answersOtherVersions(t)

	said := &recording{}
	b.start(t, b.environment(1, said.listen(t, b.address)), shortRun...)
	(&running{}).until(t, "rank 1 has joined", func() bool { return said.hasAnswers() })
	b.refuses(t, "taken rank", b.environment(1, b.address), "rank 1 has already joined", "already joined")
	replay(t, b.address, said.text())

	b.start(t, b.environment(2, b.address), shortRun...)
	b.ends(t, job.ExitOK)
	if got, want := parametersOf(t, b.folder), parametersOf(t, alone.folder); got != want {
		t.Errorf("parameters %s, want %s", got, want)
	}
	b.stderr = append(b.stderr, b.outside.stderr...)
	b.isEncrypted(t, "tls")
}

// answersOtherVersions checks that a process of another version, and one that meets a launcher of another,
// are told so.
func (b *besieged) answersOtherVersions(t *testing.T) {
	t.Helper()
	before := len(b.stderr[0].String())
	run := strings.Split(b.token, ".")[1]
	conn, err := net.Dial("tcp", b.address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "lockstep/1 %s\n", run)
	conn.SetReadDeadline(time.Now().Add(refusalTime))
	answer := make([]byte, len("lockstep/2 v\n"))
	if _, err := io.ReadFull(conn, answer); err != nil || string(answer) != "lockstep/2 v\n" {
		t.Errorf("another version is answered %q, %v", answer, err)
	}
	b.says(t, "another version", before, "refused a process at 127.0.0.1:", "version")

	future, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer future.Close()
	go func() {
		conn, err := future.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		io.WriteString(conn, "lockstep/9 y\n") // an error ends the test with the wrong words
		io.Copy(io.Discard, conn)
	}()
	b.refuses(t, "launcher of another version", b.environment(2, future.Addr().String()), "version", "")
}

// recording is a way to the launcher on which somebody listens.
type recording struct {
	mu       sync.Mutex
	said     bytes.Buffer // by the process that joins
	answered int          // bytes of the launcher
}

// listen records the first connection to an address that it returns.
func (r *recording) listen(t *testing.T, address string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var both sync.WaitGroup
	pass := func(to, from net.Conn, note func([]byte)) {
		defer to.Close()
		for b := make([]byte, 4<<10); ; {
			n, err := from.Read(b)
			note(b[:n])
			if _, failed := to.Write(b[:n]); err != nil || failed != nil {
				return
			}
		}
	}
	both.Go(func() {
		near, err := l.Accept()
		l.Close()
		if err != nil {
			return // the test is over
		}
		far, err := net.Dial("tcp", address)
		if err != nil {
			near.Close()
			return
		}
		both.Go(func() {
			pass(far, near, func(b []byte) {
				r.mu.Lock()
				defer r.mu.Unlock()
				r.said.Write(b)
			})
		})
		both.Go(func() {
			pass(near, far, func(b []byte) {
				r.mu.Lock()
				defer r.mu.Unlock()
				r.answered += len(b)
			})
		})
	})
	t.Cleanup(func() { // the processes have ended
		l.Close()
		both.Wait()
	})
	return l.Addr().String()
}

// hasAnswers reports whether the process has said its preamble, its proof and its hello.
func (r *recording) hasAnswers() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.answered > 500 && r.said.Len() > 1000
}

func (r *recording) text() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return bytes.Clone(r.said.Bytes())
}

// replay says again what a process has said that has joined: the launcher ends the connection and says
// nothing that only a process with the token may hear.
func replay(t *testing.T, address string, said []byte) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	began := time.Now()
	conn.SetDeadline(began.Add(refusalTime))
	conn.Write(said) // fails if the other end is closed before
	answer, err := io.ReadAll(conn)
	late := net.Error(nil)
	if errors.As(err, &late) && late.Timeout() {
		t.Errorf("a replayed join is not ended after %v", time.Since(began))
	}
	if bytes.Contains(answer, []byte("welcome")) {
		t.Errorf("a replayed join is answered %q", answer)
	}
	keepRefusal(t, "replayed join", "", 0, time.Since(began), "lockstep: (its connection is closed)")
}

// A launcher whose address is that of another machine says so at once.
func TestRankZeroIsElsewhere(t *testing.T) {
	b := &besieged{jobOf: &jobOf{folder: t.TempDir()}, token: strings.TrimPrefix(newToken(t),
		cluster.EnvToken+"=")}
	began := time.Now()
	b.start(t, b.environment(0, "192.0.2.1:29500"), shortRun...)
	b.ends(t, job.ExitRendezvous)
	keepRefusal(t, "wrong interface: rank 0 has the address of another machine", "",
		b.processes[0].ProcessState.ExitCode(), time.Since(began), b.stderr[0].String())
	want := "192.0.2.1 is no address of this machine, where rank 0 is; name one with --master-addr"
	if text := b.stderr[0].String(); !strings.Contains(text, want) || time.Since(began) > refusalTime {
		t.Errorf("after %v: %q, want %q", time.Since(began), text, want)
	}
	if _, err := os.Stat(filepath.Join(b.folder, "run")); err == nil {
		t.Error("it has made a run directory")
	}
}
