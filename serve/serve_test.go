package serve_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lockstep/data"
	"lockstep/data/wordpiece"
	"lockstep/graph"
	"lockstep/infer"
	"lockstep/model"
	"lockstep/serve"
	"lockstep/tensor"
)

// predictor opens a network that the test closes.
func predictor(t *testing.T, name string, wait time.Duration) *infer.Predictor {
	t.Helper()
	input := tensor.Shape{32, 32, 3}
	c := infer.Config{Mean: []float32{0.5, 0.5, 0.5}, Std: []float32{1, 1, 1}, Wait: wait, Batch: 8,
		Load: func(v *graph.Variables) error { v.Initialize(1); return nil }}
	if (model.Catalog{}).ReadsTexts(name) {
		input = tensor.Shape{16}
		words := []string{"[UNK]", "[CLS]", "[SEP]", "a", "film"}
		tokenizer, err := wordpiece.New(words)
		if err != nil {
			t.Fatal(err)
		}
		c.Tokenizer, c.Mean, c.Std = tokenizer, nil, nil
	}
	n, err := model.Named(name, 10, input)
	if err != nil {
		t.Fatal(err)
	}
	if c.Network = n; n.ReadsTexts() {
		c.Network = n.WithWords(5)
	}
	p, err := infer.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// picture returns a PNG image of side pixels.
func picture(t *testing.T, side int) []byte {
	t.Helper()
	img := image.NewGray(image.Rect(0, 0, side, side))
	for i := range img.Pix {
		img.Pix[i] = byte(i * 7)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// answers is the JSON of an answer.
type answers struct {
	Error       string
	Predictions []struct {
		Label       string
		Probability float64
		Top         []struct{ Label string }
		Logits      []float32
	}
}

// post sends a body and returns the status and the answer.
func post(t *testing.T, s http.Handler, kind, body string) (int, answers) {
	t.Helper()
	request := httptest.NewRequest("POST", "/v1/predict", strings.NewReader(body))
	request.Header.Set("Content-Type", kind)
	recorder := httptest.NewRecorder()
	s.ServeHTTP(recorder, request)
	var a answers
	if err := json.Unmarshal(recorder.Body.Bytes(), &a); err != nil {
		t.Fatalf("answer %q: %v", recorder.Body, err)
	}
	return recorder.Code, a
}

// An image is the same whichever way it comes.
func TestPredictImages(t *testing.T) {
	s := serve.New(serve.Config{Predictor: predictor(t, "lenet", 0), Images: data.Reader{Side: 32}})
	file := picture(t, 40)
	pixels, err := data.Reader{Side: 32}.Image("x", bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	code := base64.StdEncoding.EncodeToString
	body := fmt.Sprintf(`{"inputs": [{"image": %q}, {"pixels": %q}], "top": 2, "logits": true}`, code(file),
		code(pixels))
	status, all := post(t, s, "application/json", body)
	if status != 200 || len(all.Predictions) != 2 {
		t.Fatalf("status %d, %+v", status, all)
	}
	want := all.Predictions[0]
	if len(want.Top) != 2 || len(want.Logits) != 10 || want.Top[0].Label != want.Label ||
		want.Probability < 0.1 {
		t.Errorf("prediction %+v", want)
	}
	if all.Predictions[1].Label != want.Label {
		t.Errorf("pixels are a %s, the image a %s", all.Predictions[1].Label, want.Label)
	}
	other, err := os.ReadFile("../data/testdata/images/lossless.webp")
	if err != nil {
		t.Fatal(err)
	}
	if status, one := post(t, s, "image/webp", string(other)); status != 200 || len(one.Predictions) != 1 {
		t.Errorf("WebP: status %d, %+v", status, one)
	}
	for kind, body := range map[string]string{"image/png": string(file),
		"application/octet-stream": string(pixels)} {
		status, one := post(t, s, kind, body)
		if status != 200 || len(one.Predictions) != 1 || one.Predictions[0].Label != want.Label {
			t.Errorf("%s: status %d, %+v", kind, status, one)
		}
	}
}

func TestPredictTexts(t *testing.T) {
	s := serve.New(serve.Config{Predictor: predictor(t, "bert-tiny", 0)})
	body := `{"inputs": ["a film", {"text": "a film"}, {"text": "a", "pair": "film"}, {"tokens": [1, 3, 2]}]}`
	status, all := post(t, s, "application/json", body)
	if status != 200 || len(all.Predictions) != 4 {
		t.Fatalf("status %d, %+v", status, all)
	}
	p := all.Predictions
	if p[0].Probability != p[1].Probability || p[0].Probability == p[2].Probability {
		t.Errorf("predictions %+v", p)
	}
	if status, one := post(t, s, "text/plain; charset=utf-8", "a film"); status != 200 ||
		one.Predictions[0].Label != p[0].Label {
		t.Errorf("status %d, %+v", status, one)
	}
}

// What is wrong is said with a status of its own, and the server goes on.
func TestRefusals(t *testing.T) {
	images := serve.New(serve.Config{Predictor: predictor(t, "lenet", 0), Images: data.Reader{Side: 32},
		MaxBody: 20000, MaxWaiting: 4, MaxPixels: 10000})
	texts := serve.New(serve.Config{Predictor: predictor(t, "bert-tiny", 0)})
	five := strings.Repeat(`{"pixels": ""},`, 4) + `{"pixels": ""}`
	const asJSON = "application/json"
	for _, test := range []struct {
		to         *serve.Server
		kind, body string
		status     int
		want       string
	}{
		{images, asJSON, `{"inputs": [`, 400, "see /openapi.json"},
		{images, "application/x-www-form-urlencoded", string(picture(t, 8)), 400,
			"or one input with its Content-Type, such as image/png"},
		{images, asJSON, `{"input": []}`, 400, `unknown field "input"`},
		{images, asJSON, `{"inputs": [{"pixel": ""}]}`, 400, `unknown field "pixel"`},
		{images, asJSON, `{"inputs": []}`, 400, "0 inputs"},
		{images, asJSON, `{"inputs": ["a film"]}`, 400, "input 1: no image"},
		{images, asJSON, `{"inputs": [{"values": [1]}]}`, 400, "input 1: 1 values of an image, want 3072"},
		{images, asJSON, `{"inputs": [{"image": "AAAA"}]}`, 400, "input 1: neither a JPEG nor a PNG"},
		{images, asJSON, `{"inputs": [` + five + `]}`, 413, "more than 4 inputs in one request"},
		{images, asJSON, `{"inputs": [{"pixels": ""}]} {}`, 400, "more behind"},
		{images, "image/png", string(picture(t, 101)), 413, "101x101 pixels, want at most 10000"},
		{images, "image/png", "GIF89a", 400, "neither a JPEG"},
		{images, "image/webp", "RIFF", 400, "nor a WebP image"},
		{images, "image/gif", "GIF89a", 415, `type "image/gif"`},
		{images, "application/octet-stream", strings.Repeat("x", 20001), 413, "more than 20000 bytes"},
		{texts, "image/png", string(picture(t, 8)), 400, "an image, want a text"},
		{texts, asJSON, `{"inputs": [{}]}`, 400, "input 1: no text"},
		{texts, "text/plain", "", 400, "the body is empty"},
		{texts, "text/plain", "\xff", 400, "not UTF-8"},
		{texts, asJSON, `{"inputs": [{"text": 7}]}`, 400, `got number at "inputs.text"`},
		{texts, asJSON, `{"inputs": [[1]]}`, 400, `got array at "inputs"`},
		{texts, asJSON, `{"inputs": [{"tokens": [99]}]}`, 400, "token 0 is number 99"},
	} {
		status, a := post(t, test.to, test.kind, test.body)
		if status != test.status || !strings.Contains(a.Error, test.want) {
			t.Errorf("%.40s: status %d, %q, want %d, %q", test.body, status, a.Error, test.status, test.want)
		}
	}
	for target, want := range map[string]int{"GET /v1/predict": 405, "GET /other": 404,
		"POST /healthz": 404} {
		method, path, _ := strings.Cut(target, " ")
		recorder := httptest.NewRecorder()
		images.ServeHTTP(recorder, httptest.NewRequest(method, path, nil))
		if recorder.Code != want || !strings.Contains(recorder.Body.String(), `{"error":"want `) {
			t.Errorf("%s: status %d, %s, want %d", target, recorder.Code, recorder.Body, want)
		}
	}
	if status, a := post(t, texts, "text/plain", "a film"); status != 200 {
		t.Errorf("after all that: status %d, %+v", status, a)
	}
}

func TestToken(t *testing.T) {
	s := serve.New(serve.Config{Predictor: predictor(t, "bert-tiny", 0), Token: "secret"})
	for header, want := range map[string]int{"": 401, "Bearer secre": 401, "secret": 200,
		"Bearer secret": 200} {
		request := httptest.NewRequest("POST", "/v1/predict", strings.NewReader(`{"inputs": ["a"]}`))
		request.Header.Set("Authorization", header)
		recorder := httptest.NewRecorder()
		s.ServeHTTP(recorder, request)
		if recorder.Code != want {
			t.Errorf("%q: status %d, want %d", header, recorder.Code, want)
		}
	}
	recorder := httptest.NewRecorder()
	s.ServeHTTP(recorder, httptest.NewRequest("GET", "/healthz", nil))
	if recorder.Code != 200 {
		t.Errorf("health without the token: status %d", recorder.Code)
	}
}

// While as many inputs wait as may, others are refused, and metrics count both.
func TestQueueIsBounded(t *testing.T) {
	p := predictor(t, "lenet", 100*time.Millisecond) // a batch waits for others
	s := serve.New(serve.Config{Predictor: p, Images: data.Reader{Side: 32}, MaxWaiting: 3})
	body, counts := strings.Repeat("x", 32*32*3), [600]atomic.Int64{}
	var callers sync.WaitGroup
	for range 12 {
		callers.Go(func() {
			request := httptest.NewRequest("POST", "/v1/predict", strings.NewReader(body))
			request.Header.Set("Content-Type", "application/octet-stream")
			recorder := httptest.NewRecorder()
			s.ServeHTTP(recorder, request)
			counts[recorder.Code].Add(1)
			if recorder.Code == 429 && recorder.Header().Get("Retry-After") == "" {
				t.Error("429 without Retry-After")
			}
		})
	}
	callers.Wait()
	done, refused := counts[200].Load(), counts[429].Load()
	if done < 3 || done+refused != 12 {
		t.Errorf("%d answered, %d refused of 12", done, refused)
	}
	recorder := httptest.NewRecorder()
	s.ServeHTTP(recorder, httptest.NewRequest("GET", "/metrics", nil))
	for _, want := range []string{fmt.Sprintf("lockstep_requests_total{code=\"200\"} %d\n", done),
		fmt.Sprintf("lockstep_inputs_total %d\n", done), "lockstep_inputs_waiting 0\n",
		"lockstep_request_seconds_count 12\n", "lockstep_request_seconds_bucket{le=\"+Inf\"} 12\n"} {
		if !strings.Contains(recorder.Body.String(), want) {
			t.Errorf("metrics lack %q:\n%s", want, recorder.Body)
		}
	}
}

// The page and the description are there, and the latter names what is answered.
func TestDescription(t *testing.T) {
	s := serve.New(serve.Config{Predictor: predictor(t, "lenet", 0), Name: "<digits>"})
	for path, want := range map[string]string{"/": "&lt;digits&gt;", "/openapi.json": `"/v1/predict"`} {
		recorder := httptest.NewRecorder()
		s.ServeHTTP(recorder, httptest.NewRequest("GET", path, nil))
		if recorder.Code != 200 || !strings.Contains(recorder.Body.String(), want) {
			t.Errorf("%s: status %d, %s, want %s", path, recorder.Code, recorder.Body, want)
		}
	}
}

// A server that ends under load answers every request that it has accepted: clients that turn to the next
// server when a connection is refused lose none.
func TestEndLosesNoRequest(t *testing.T) {
	p := predictor(t, "lenet", 0)
	var address atomic.Value
	start := func() (stop func()) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		s := serve.New(serve.Config{Predictor: p, Drain: 100 * time.Millisecond})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.Run(ctx, l) }()
		address.Store("http://" + l.Addr().String() + "/v1/predict")
		return func() {
			cancel()
			if err := <-ended; err != nil {
				t.Errorf("Run: %v", err)
			}
		}
	}
	stopFirst := start()
	body, done := strings.Repeat("x", 32*32*3), make(chan struct{})
	var answered atomic.Int64
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			client := &http.Client{Transport: &http.Transport{}} // of its own
			defer client.CloseIdleConnections()
			for {
				select {
				case <-done:
					return
				default:
				}
				resp, err := client.Post(address.Load().(string), "application/octet-stream",
					strings.NewReader(body))
				if err != nil {
					t.Errorf("a request is lost: %v", err)
					continue
				}
				text, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if err != nil || resp.StatusCode != 200 {
					t.Errorf("status %d, %s, %v", resp.StatusCode, text, err)
				}
				answered.Add(1)
			}
		})
	}
	await := func(n int64) {
		for until := answered.Load() + n; answered.Load() < until && !t.Failed(); {
			time.Sleep(time.Millisecond)
		}
	}
	await(20)
	stopSecond := start()
	stopFirst()
	await(20)
	close(done)
	callers.Wait()
	stopSecond()
}

// Those who have come before the door closes are answered, though they ask only then.
func TestEndAnswersThoseInside(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := serve.New(serve.Config{Predictor: predictor(t, "bert-tiny", 0), Drain: time.Millisecond})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	var guests []net.Conn
	for range 20 { // all wait to be accepted
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		guests = append(guests, c)
	}
	go func() { ended <- s.Run(ctx, l) }()
	cancel()
	for isOpen := true; isOpen; { // each look is one more who comes and leaves
		time.Sleep(5 * time.Millisecond)
		c, err := net.Dial("tcp", l.Addr().String())
		if isOpen = err == nil; isOpen {
			c.Close()
		}
	}
	for i, c := range guests {
		const body = `{"inputs": ["a film"]}`
		fmt.Fprintf(c, "POST /v1/predict HTTP/1.1\r\nHost: here\r\nContent-Length: %d\r\n\r\n%s",
			len(body), body)
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Errorf("guest %d: %v", i, err)
			continue
		}
		resp.Body.Close()
		if resp.StatusCode != 200 || !resp.Close {
			t.Errorf("guest %d: %s, the connection ends: %v", i, resp.Status, resp.Close)
		}
	}
	if err := <-ended; err != nil {
		t.Errorf("Run: %v", err)
	}
}

// As many inputs come in one request as may wait; of more, no body makes the server allocate a multiple.
func TestInputsOfARequestAreBounded(t *testing.T) {
	p := predictor(t, "bert-tiny", 0)
	s := serve.New(serve.Config{Predictor: p, MaxWaiting: 4})
	for n, want := range map[int]int{1: 200, 4: 200, 5: 413} {
		texts := strings.TrimSuffix(strings.Repeat(`"a",`, n), ",")
		if status, a := post(t, s, "application/json", `{"inputs": [`+texts+`]}`); status != want {
			t.Errorf("%d inputs: status %d, %s, want %d", n, status, a.Error, want)
		}
	}
	one := serve.New(serve.Config{Predictor: p, MaxWaiting: 1})
	if status, a := post(t, one, "application/json", `{"inputs": ["a", "a"]}`); status != 413 {
		t.Errorf("two where one may wait: status %d, %s", status, a.Error)
	}
	body := `{"inputs": ["` + strings.Repeat(`","`, 1<<20) + `"]}`
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	status, a := post(t, s, "application/json", body)
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; status != 413 || got > 10*uint64(len(body)) {
		t.Errorf("a million texts: status %d, %s, %d bytes for a body of %d", status, a.Error, got, len(body))
	}
}

// A client that does not send what it has announced hears so, and one that leaves is counted apart.
func TestClientsThatDoNotSend(t *testing.T) {
	s := serve.New(serve.Config{Predictor: predictor(t, "bert-tiny", 0), Deadline: 50 * time.Millisecond,
		Drain: time.Millisecond})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, l) }()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, "POST /v1/predict HTTP/1.1\r\nHost: here\r\nContent-Length: 99\r\n\r\n{")
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 408 || !strings.Contains(string(text), "not come within 50ms") {
		t.Errorf("status %d, %s, %v", resp.StatusCode, text, err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	request := httptest.NewRequestWithContext(gone, "POST", "/v1/predict",
		strings.NewReader(`{"inputs": ["a film"]}`))
	s.ServeHTTP(httptest.NewRecorder(), request)
	recorder := httptest.NewRecorder()
	s.ServeHTTP(recorder, httptest.NewRequest("GET", "/metrics", nil))
	for _, want := range []string{`{code="408"} 1`, `{code="499"} 1`} {
		if !strings.Contains(recorder.Body.String(), "lockstep_requests_total"+want) {
			t.Errorf("metrics lack %s:\n%s", want, recorder.Body)
		}
	}
}
