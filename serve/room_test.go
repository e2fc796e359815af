package serve_test

import (
	"errors"
	"io"
	"math"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"lockstep/serve"
)

// slow begins requests of which each has sent so many bytes, and one more that may not be counted yet, when
// it returns, and nothing more until end.
func slow(s *serve.Server, requests, bytes int) (end func()) {
	var all sync.WaitGroup
	var pipes []*io.PipeWriter
	for range requests {
		body, in := io.Pipe()
		pipes = append(pipes, in)
		all.Go(func() {
			s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", "/v1/predict", body))
		})
		io.WriteString(in, strings.Repeat("x", bytes)) // returns when they are read
		io.WriteString(in, "x")
	}
	return func() {
		for _, in := range pipes {
			in.CloseWithError(errors.New("gone"))
		}
		all.Wait()
	}
}

// Clients that announce no length and send little keep nobody out, however many they are.
func TestSlowClientsHoldNobodyUp(t *testing.T) {
	s := serve.New(serve.Config{Predictor: predictor(t, "bert-tiny", 0), MaxBody: 1 << 10, MaxWaiting: 2})
	end := slow(s, 20, 1)
	defer end()
	began := time.Now()
	if status, a := post(t, s, "text/plain", "a film"); status != 200 || time.Since(began) > 20*time.Second {
		t.Errorf("beside slow clients: status %d, %+v after %v", status, a, time.Since(began))
	}
}

// Bodies of eight times the greatest length are held at a time; who comes then may try again.
func TestBodiesThatFindNoRoom(t *testing.T) {
	const largest = 1 << 10
	s := serve.New(serve.Config{Predictor: predictor(t, "bert-tiny", 0), MaxBody: largest})
	end := slow(s, 8, largest-1)
	status, a := post(t, s, "text/plain", strings.Repeat("a film ", 9))
	if status != 429 || !strings.Contains(a.Error, "try again") {
		t.Errorf("in a full room: status %d, %+v", status, a)
	}
	end()
	if status, a := post(t, s, "text/plain", "a film"); status != 200 {
		t.Errorf("after they have left: status %d, %+v", status, a)
	}
}

// A bound may be the greatest number, of which eight times as many is none.
func TestTheGreatestBound(t *testing.T) {
	s := serve.New(serve.Config{Predictor: predictor(t, "bert-tiny", 0), MaxBody: math.MaxInt64})
	if status, a := post(t, s, "text/plain", "a film"); status != 200 {
		t.Errorf("status %d, %+v", status, a)
	}
}
