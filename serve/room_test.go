package serve_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lockstep/serve"
)

// running serves a network until the test ends.
func running(t *testing.T, c serve.Config) (address string, end func()) {
	t.Helper()
	var plain net.ListenConfig
	plain.SetMultipathTCP(false)
	l, err := plain.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- serve.New(c).Run(ctx, l) }()
	return l.Addr().String(), func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
	}
}

// Who finds the room full waits, is let in by order of coming, and leaves the queue when it gives up.
func TestRoomLetsInByOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, came := serve.NewRoom(10), make(chan string, 9)
		enter := func(ctx context.Context, name string, n int64) {
			go func() {
				if err := r.Enter(ctx, n); err != nil {
					name += " " + err.Error()
				}
				came <- name
			}()
			synctest.Wait()
		}
		expect := func(want ...string) {
			t.Helper()
			synctest.Wait()
			for _, w := range want {
				select {
				case got := <-came:
					if got != w {
						t.Errorf("%s, want %s", got, w)
					}
				default:
					t.Errorf("nobody, want %s", w)
				}
			}
			if len(came) > 0 {
				t.Errorf("%s came too early", <-came)
			}
		}
		ctx := t.Context()
		soon, giveUp := context.WithCancel(ctx)
		enter(ctx, "first", 7)
		enter(soon, "large", 5)
		enter(ctx, "small", 1) // behind the large one, though there is room
		enter(ctx, "last", 9)
		expect("first")
		giveUp()
		expect("large context canceled", "small")
		r.Leave(7)
		expect("last")
		r.Leave(1)
		r.Leave(9)
		enter(ctx, "all", 10)
		if expect("all"); r.Waiting() != 0 {
			t.Errorf("%d wait", r.Waiting())
		}
	})
}

// Of more bodies than there is room for, all get their answers: those who come later when others have theirs.
func TestBodiesWaitForRoom(t *testing.T) {
	const largest, clients = 64 << 10, 60
	address, end := running(t, serve.Config{Predictor: predictor(t, "bert-tiny", 0), MaxBody: largest,
		Deadline: time.Minute, Drain: time.Millisecond})
	body := `{"inputs": ["a film"]}` + strings.Repeat(" ", largest-22)
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			resp, err := http.Post("http://"+address+"/v1/predict", "application/json",
				strings.NewReader(body))
			if err != nil {
				t.Error(err)
				return
			}
			if resp.Body.Close(); resp.StatusCode != 200 {
				t.Error(resp.Status)
			}
		})
	}
	all.Wait()
	end()
}

// A request that finds no room within the deadline hears so, and takes none.
func TestNoRoomWithinTheDeadline(t *testing.T) {
	const largest = 1 << 10
	s := serve.New(serve.Config{Predictor: predictor(t, "bert-tiny", 0), MaxBody: largest,
		Deadline: 50 * time.Millisecond})
	silence, end := io.Pipe()
	var silent sync.WaitGroup
	for range 8 { // who take all room and send nothing
		silent.Go(func() {
			request := httptest.NewRequest("POST", "/v1/predict", silence)
			request.ContentLength = largest
			s.ServeHTTP(httptest.NewRecorder(), request)
		})
	}
	for {
		status, a := post(t, s, "text/plain", "a film")
		if status == 200 {
			continue // not all are in yet
		}
		if status != 504 || !strings.Contains(a.Error, "no answer within 50ms") {
			t.Errorf("status %d, %+v", status, a)
		}
		break
	}
	end.Close()
	silent.Wait()
	if status, a := post(t, s, "text/plain", "a film"); status != 200 {
		t.Errorf("after they have left: status %d, %+v", status, a)
	}
}

// A server that ends ignores who begins to connect, where the system can, rather than to reset who is almost
// in; those who came before have their answers.
func TestEndIgnoresNewClients(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("other systems refuse new clients at once")
	}
	address, end := running(t, serve.Config{Predictor: predictor(t, "bert-tiny", 0), Drain: time.Millisecond})
	early, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer early.Close()
	ended := make(chan struct{})
	go func() { defer close(ended); end() }()
	isIgnored := false
	for isOver := false; !isOver && !isIgnored; {
		c, err := net.DialTimeout("tcp", address, 20*time.Millisecond)
		slow := (net.Error)(nil)
		switch {
		case err == nil:
			c.Close()
		case errors.As(err, &slow) && slow.Timeout():
			isIgnored = true
		default:
			isOver = true
		}
	}
	if !isIgnored {
		t.Error("no client was ignored before the listener closed")
	}
	const body = `{"inputs": ["a film"]}`
	fmt.Fprintf(early, "POST /v1/predict HTTP/1.1\r\nHost: here\r\nContent-Length: %d\r\n\r\n%s",
		len(body), body)
	resp, err := http.ReadResponse(bufio.NewReader(early), nil)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 200 {
		t.Errorf("who came before: %s", resp.Status)
	}
	<-ended
}
