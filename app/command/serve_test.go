package command

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"lockstep/cluster"
)

// written is a buffer that may be read while it is written.
type written struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (w *written) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.Write(p)
}

func (w *written) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.String()
}

// A run that is served answers as infer does, and the server ends with status 0 when it is asked to.
func TestServeARun(t *testing.T) {
	root := t.TempDir()
	photos, run := filepath.Join(root, "photos"), filepath.Join(root, "run")
	shadesIn(t, photos)
	if status, _, text := execute("train", "--data", photos, "--size", "32", "--steps", "6", "--batch", "10",
		"--lr", "0.05", "--out", run, "--quiet"); status != 0 {
		t.Fatalf("train: %s", text)
	}
	signals, stderr, ended := make(chan os.Signal, 1), &written{}, make(chan int, 1)
	a := &app{stdout: io.Discard, stderr: stderr, environment: cluster.Environment{}, signals: signals}
	go func() { ended <- a.run([]string{"serve", run, "--listen", "127.0.0.1:0", "--drain", "1ms"}) }()
	var url string
	for url == "" {
		select {
		case status := <-ended:
			t.Fatalf("status %d: %s", status, stderr)
		case <-time.After(time.Millisecond):
			url = regexp.MustCompile(`http://\S+`).FindString(stderr.String())
		}
	}
	one := filepath.Join(photos, "test", "dark", "0.png")
	file, err := os.ReadFile(one)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post(url+"/v1/predict", "image/png", bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var got struct{ Predictions []struct{ Label string } }
	if err := json.NewDecoder(resp.Body).Decode(&got); err != nil || len(got.Predictions) != 1 {
		t.Fatalf("status %s, %+v, %v", resp.Status, got, err)
	}
	if _, said, _ := execute("infer", run, one); !strings.Contains(said, ","+got.Predictions[0].Label+",") {
		t.Errorf("the server says %s, infer %s", got.Predictions[0].Label, said)
	}
	signals <- syscall.SIGTERM
	if status := <-ended; status != 0 {
		t.Errorf("status %d: %s", status, stderr)
	}
}

func TestServeRefuses(t *testing.T) {
	root := t.TempDir()
	short := filepath.Join(root, "token")
	if err := os.WriteFile(short, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string]string{
		"want the folder of one run":               "",
		"is no folder of a run":                    root + " --listen 127.0.0.1:0",
		"others can reach it, so want a token":     root + " --listen 0.0.0.0:8080",
		"others can reach it":                      root + " --listen :8080",
		"want an address and a port":               root + " --listen 8080",
		"choose another port":                      root + " --listen 127.0.0.1:99999",
		"6 characters, want at least 16":           root + " --token-file " + short,
		"--token-file: open":                       root + " --token-file " + filepath.Join(root, "none"),
		"--max-waiting, --max-body and --deadline": root + " --max-waiting 0",
	} {
		status, _, text := execute(append([]string{"serve"}, strings.Fields(args)...)...)
		if status != 2 || !strings.Contains(text, want) {
			t.Errorf("%s: status %d, %s, want %q", args, status, text, want)
		}
	}
}
