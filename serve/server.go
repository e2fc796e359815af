package serve

import (
	"cmp"
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"lockstep/data"
	"lockstep/infer"
)

// Config says what a Server answers with. Zero values of bounds are their defaults.
type Config struct {
	// Predictor computes. The caller closes it, after Run.
	Predictor *infer.Predictor
	// Images decodes images for it.
	Images data.Reader
	// Name is what people know the network by, such as the folder of its run.
	Name string
	// Token is what requests must have as "Authorization: Bearer TOKEN", but for /healthz; "": nothing.
	Token string
	// MaxBody bounds the bytes of a request's body; default 8 MiB. What has come of all that are not answered
	// is at most 8 times as much; beyond that requests are refused.
	MaxBody int64
	// MaxWaiting bounds the inputs that have come and are not yet answered, and those of one request; default
	// 256.
	MaxWaiting int
	// MaxPixels bounds the width times the height of an image; default 2^24.
	MaxPixels int
	// Deadline bounds the time from a request's header to its answer, in which its body has to come; default
	// 30 s.
	Deadline time.Duration
	// Drain is how long requests are still accepted after the context of Run has ended; default 0.5 s.
	Drain time.Duration
	// Log receives what goes wrong, a line each; nil: nobody does.
	Log io.Writer
}

// Server is a handler of requests. It is safe for concurrent use.
type Server struct {
	config   Config
	mux      *http.ServeMux
	decoding chan struct{} // has a value for each image that may be decoded
	bodies   atomic.Int64  // bytes
	waiting  atomic.Int64  // inputs
	ending   atomic.Bool
	meter    meter
	buffers  sync.Pool // of *work
}

// work is memory of one request.
type work struct {
	inputs   []infer.Input
	admitted int // of them, that wait
	logits   []float32
}

// New returns a server.
func New(c Config) *Server {
	c.MaxBody, c.MaxWaiting = cmp.Or(c.MaxBody, 8<<20), cmp.Or(c.MaxWaiting, 256)
	c.MaxPixels = cmp.Or(c.MaxPixels, 1<<24)
	c.Deadline, c.Drain = cmp.Or(c.Deadline, 30*time.Second), cmp.Or(c.Drain, 500*time.Millisecond)
	if c.Log == nil {
		c.Log = io.Discard
	}
	s := &Server{config: c, mux: http.NewServeMux(), decoding: make(chan struct{}, runtime.GOMAXPROCS(0))}
	s.buffers.New = func() any { return &work{} }
	s.mux.HandleFunc("POST /v1/predict", s.guarded(s.predict))
	s.mux.HandleFunc("GET /metrics", s.guarded(s.metrics))
	s.mux.HandleFunc("GET /openapi.json", s.guarded(s.describe))
	s.mux.HandleFunc("GET /{$}", s.guarded(s.page))
	s.mux.HandleFunc("GET /healthz", s.health)
	s.mux.HandleFunc("/", s.notFound)
	return s
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.ending.Load() {
		w.Header().Set("Connection", "close")
	}
	s.mux.ServeHTTP(w, r)
}

// notFound answers a request for what is not there.
func (s *Server) notFound(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/v1/predict" {
		w.Header().Set("Allow", http.MethodPost)
		s.refuse(w, &statusError{http.StatusMethodNotAllowed, "want POST, got " + r.Method})
		return
	}
	s.refuse(w, &statusError{http.StatusNotFound,
		"want POST /v1/predict, or GET /healthz, /metrics, /openapi.json"})
}

// Run serves the connections of l until ctx ends, then answers what it has accepted. It owns l.
func (s *Server) Run(ctx context.Context, l net.Listener) error {
	d, g := &door{Listener: l}, &guests{since: map[net.Conn]time.Time{}}
	h := &http.Server{Handler: s, ConnState: g.note, ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout: s.config.Deadline, WriteTimeout: 2 * s.config.Deadline, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 16 << 10, ErrorLog: log.New(s.config.Log, "", 0)}
	ended := make(chan error, 1)
	go func() { ended <- h.Serve(d) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	s.ending.Store(true)
	time.Sleep(s.config.Drain)
	d.shut()
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		return err
	}
	patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*s.config.Deadline)
	defer cancel()
	g.wait(patience)
	return h.Shutdown(patience)
}

// guarded lets those in who have the token.
func (s *Server) guarded(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		isRight := subtle.ConstantTimeCompare([]byte(token), []byte(s.config.Token)) == 1
		if !isRight && s.config.Token != "" {
			w.Header().Set("WWW-Authenticate", "Bearer")
			s.refuse(w, &statusError{http.StatusUnauthorized, "want the header Authorization: Bearer TOKEN"})
			return
		}
		h(w, r)
	}
}

// health says whether requests are accepted.
func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	if s.ending.Load() {
		s.refuse(w, &statusError{http.StatusServiceUnavailable, "the server ends"})
		return
	}
	s.write(w, http.StatusOK, map[string]string{"status": "ok", "model": s.config.Predictor.Network().Name})
}

// statusError is an error with the status that says it.
type statusError struct {
	status int
	text   string
}

// Error says what is wrong and what is wanted.
func (e *statusError) Error() string { return e.text }

// statusOf returns the status of an error.
func statusOf(err error) int {
	known, bad, large := (*statusError)(nil), (*infer.InputError)(nil), (*http.MaxBytesError)(nil)
	infinite := (*infer.NotFiniteError)(nil)
	switch {
	case errors.As(err, &known):
		return known.status
	case errors.As(err, &large):
		return http.StatusRequestEntityTooLarge
	case errors.As(err, &infinite):
		return http.StatusUnprocessableEntity
	case errors.As(err, &bad):
		return http.StatusBadRequest
	case errors.Is(err, context.DeadlineExceeded):
		return http.StatusGatewayTimeout
	case errors.Is(err, os.ErrDeadlineExceeded): // of the connection
		return http.StatusRequestTimeout
	case errors.Is(err, infer.ErrClosed):
		return http.StatusServiceUnavailable
	}
	return http.StatusBadRequest
}

// refuse answers with an error.
func (s *Server) refuse(w http.ResponseWriter, err error) {
	status := statusOf(err)
	switch status {
	case http.StatusRequestEntityTooLarge:
		if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
			err = fmt.Errorf("the body has more than %d bytes, the most that is taken", large.Limit)
		}
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "1")
	case http.StatusRequestTimeout:
		err = fmt.Errorf("the body has not come within %v", s.config.Deadline)
	case http.StatusGatewayTimeout:
		err = fmt.Errorf("no answer within %v", s.config.Deadline)
	}
	s.write(w, status, map[string]string{"error": err.Error()})
}

// write answers with a value as JSON.
func (s *Server) write(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(value); err != nil {
		fmt.Fprintf(s.config.Log, "serve: answer: %v\n", err)
	}
}
