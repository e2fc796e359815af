package agent

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// pair is a console's connection to an agent of the same process.
type pair struct {
	*Connection
	served       chan error
	toAgent      *io.PipeWriter
	toConsole    *io.PipeWriter
	agentReads   *io.PipeReader
	consoleReads *io.PipeReader
}

type answerer = func(context.Context, string, json.RawMessage) (json.RawMessage, error)

// connect starts an agent and opens a connection to it.
func connect(t *testing.T, answer answerer) pair {
	t.Helper()
	p := pair{served: make(chan error, 1)}
	p.agentReads, p.toAgent = io.Pipe()
	p.consoleReads, p.toConsole = io.Pipe()
	agent := Agent{In: p.agentReads, Out: p.toConsole, Hello: Hello{Version: "1", PID: 7}, Answer: answer,
		Status: func(error) int { return 3 }}
	go func() {
		p.served <- agent.Serve(context.Background())
		p.toConsole.Close() // as the end of its process does
		p.agentReads.Close()
	}()
	closer := func() { p.toAgent.Close(); p.consoleReads.Close() }
	var err error
	p.Connection, err = open(Host{Name: "b", Slots: 1}, newLine(p.consoleReads, p.toAgent), closer,
		func() string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func echo(_ context.Context, name string, body json.RawMessage) (json.RawMessage, error) {
	if name == "fail" {
		return nil, errors.New("no such thing")
	}
	return body, nil
}

func TestAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := connect(t, echo)
		if p.Hello.PID != 7 {
			t.Errorf("hello %+v", p.Hello)
		}
		got, err := p.Ask(t.Context(), "echo", json.RawMessage(`{"a":[1,2]}`))
		if string(got) != `{"a":[1,2]}` || err != nil {
			t.Errorf("%s, %v", got, err)
		}
		_, err = p.Ask(t.Context(), "fail", nil)
		if refused := (*AskError)(nil); !errors.As(err, &refused) || refused.Status != 3 ||
			err.Error() != "host b: no such thing" {
			t.Errorf("%v", err)
		}
		long, _ := json.Marshal(strings.Repeat("x", maxLine))
		if _, err := p.Ask(t.Context(), "echo", long); err == nil || !strings.Contains(err.Error(), "bytes") {
			t.Errorf("a body that is too long: %v", err)
		}
		p.Close()
		if err := <-p.served; err != nil {
			t.Errorf("the agent: %v", err)
		}
		if _, err := p.Ask(t.Context(), "echo", nil); !errors.As(err, new(*HostError)) {
			t.Errorf("after the end: %v", err)
		}
	})
}

// A connection over which nothing is said lasts.
func TestBeatsKeepAConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := connect(t, echo)
		time.Sleep(time.Hour)
		if _, err := p.Ask(t.Context(), "echo", json.RawMessage("1")); err != nil {
			t.Error(err)
		}
		p.Close()
		<-p.served
	})
}

// A console that is stopped, or whose connection hangs, does not keep its agent.
func TestASilentConsoleEndsItsAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, mute := io.Pipe()
		deaf, out := io.Pipe() // nobody reads: the hello does not leave
		served := make(chan error)
		begin, isAsked := time.Now(), false
		agent := Agent{In: in, Out: out, Status: func(error) int { return 1 },
			Answer: func(ctx context.Context, _ string, _ json.RawMessage) (json.RawMessage, error) {
				isAsked = true
				<-ctx.Done() // work in progress ends with the agent
				return nil, ctx.Err()
			}}
		go func() { served <- agent.Serve(t.Context()) }()
		go mute.Write([]byte(`{"ask":{"number":1,"name":"x"}}` + "\n"))
		err := <-served
		if took := time.Since(begin); took > 13*time.Second || !errors.Is(err, errUnheard) || !isAsked {
			t.Errorf("ended after %v with %v", took, err)
		}
		mute.Close() // as the end of the agent's process does
		deaf.Close()
	})
}

// An agent that is stopped, or whose connection hangs, is given up and named.
func TestASilentAgentIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, agent := io.Pipe()
		hang, out := io.Pipe()
		l := newLine(in, out)
		go agent.Write([]byte(`{"hello":{"version":"1"}}` + "\n"))
		c, err := open(Host{Name: "b"}, l, func() { in.Close(); out.Close(); hang.Close() },
			func() string { return "" })
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		_, err = c.Ask(t.Context(), "x", nil) // is never read
		if took := time.Since(begin); took > 12*time.Second || !errors.As(err, new(*HostError)) {
			t.Errorf("%v after %v", err, took)
		}
		<-c.Done()
		if got := c.Err().Error(); got != "host b is lost: heard nothing for 10 s" {
			t.Error(got)
		}
	})
}

// The time in which a console cannot print, and so does not read, is not held against the agent.
func TestABlockedConsoleLosesNoAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, out := io.Pipe()
		l := newLine(in, io.Discard)
		go func() { out.Write([]byte("{}\n")) }()
		if _, err := l.receive(); err != nil {
			t.Fatal(err)
		}
		defer l.close()
		done := make(chan struct{})
		go func() { time.Sleep(time.Minute); close(done) }()
		if l.beat(done) {
			t.Error("silence although nobody listened")
		}
	})
}

func FuzzLine(f *testing.F) {
	f.Add([]byte("{}\n"))
	f.Add([]byte(`{"ask":{"number":1,"name":"x","body":[1]}}` + "\n" + `{"ended":"x"}` + "\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		l := newLine(strings.NewReader(string(text)), io.Discard)
		defer l.close()
		for range len(text) + 1 {
			if _, err := l.receive(); err != nil {
				return
			}
		}
		t.Error("more lines than bytes")
	})
}

// An agent that beats but does not do what it is asked to, as on a disk that hangs, counts as lost after a
// time, by name.
func TestAnAgentThatDoesNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, toAgent := io.Pipe()
		out, toConsole := io.Pipe()
		var peer sync.WaitGroup
		peer.Go(func() { io.Copy(io.Discard, in) })
		peer.Go(func() {
			text := `{"hello":{}}`
			for {
				if _, err := io.WriteString(toConsole, text+"\n"); err != nil {
					return
				}
				text = "{}"
				time.Sleep(time.Second)
			}
		})
		c, err := open(Host{Name: "b"}, newLine(out, toAgent), func() { out.Close(); toAgent.Close() },
			func() string { return "" })
		if err != nil {
			t.Fatal(err)
		}
		defer peer.Wait()
		defer c.Close()
		began := time.Now()
		err = Claim(t.Context(), c, "j")
		const want = "host b is lost: its agent has not answered within 10s"
		if !IsLost(err) || !strings.HasPrefix(err.Error(), want) || time.Since(began) != askTime {
			t.Errorf("%v after %v, want %s", err, time.Since(began), want)
		}
	})
}

// A host that cannot keep the folder of a job is unfit for it, which is no bug of this program.
func TestAHostWithoutRoomForAJob(t *testing.T) {
	t.Chdir(t.TempDir()) // below which the agent's folders are
	put(t, "taken", "a file")
	synctest.Test(t, func(t *testing.T) {
		p := connect(t, echo)
		err := Claim(t.Context(), p.Connection, "taken")
		var unfit *HostError
		if !errors.As(err, &unfit) || unfit.IsLost || !strings.HasPrefix(err.Error(),
			"host b: no folder can be made for the job: mkdir taken: not a directory") {
			t.Errorf("%v", err)
		}
		p.Close()
		<-p.served
	})
}

// A Ctrl-C after another signal kills a job that goes on; schedulers may send SIGTERM as often as they like.
func TestOnlyAFurtherCtrlCKillsAJob(t *testing.T) {
	for _, test := range []struct {
		signals []os.Signal
		isKill  bool
	}{
		{[]os.Signal{os.Interrupt}, false},
		{[]os.Signal{syscall.SIGTERM, syscall.SIGTERM}, false},
		{[]os.Signal{os.Interrupt, os.Interrupt}, true},
		{[]os.Signal{syscall.SIGTERM, os.Interrupt}, true},
	} {
		r, isKill := &router{}, false
		for _, s := range test.signals {
			isKill = r.pass(s)
		}
		if isKill != test.isKill || len(r.early) != len(test.signals) {
			t.Errorf("%v: killed %v, passed on %v", test.signals, isKill, r.early)
		}
	}
}
