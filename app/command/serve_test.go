package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"lockstep/cluster"
)

// A run that is served answers as infer does, and the server ends with status 0 when it is asked to.
func TestServeARun(t *testing.T) {
	root := t.TempDir()
	photos, run := filepath.Join(root, "photos"), filepath.Join(root, "run")
	shadesIn(t, photos)
	if status, _, text := execute("train", "--data", photos, "--size", "32", "--steps", "6", "--batch", "10",
		"--lr", "0.05", "--out", run, "--quiet"); status != 0 {
		t.Fatalf("train: %s", text)
	}
	url, end := served(t, run)
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
	end()
}

// served serves a run at a url until end, which asks it to end and checks that it does.
func served(t *testing.T, run string) (url string, end func()) {
	t.Helper()
	signals, stderr, ended := make(chan os.Signal, 1), &shared{}, make(chan int, 1)
	a := &app{stdout: io.Discard, stderr: stderr, environment: cluster.Environment{}, signals: signals}
	go func() { ended <- a.run([]string{"serve", run, "--listen", "127.0.0.1:0", "--drain", "1ms"}) }()
	for url == "" {
		select {
		case status := <-ended:
			t.Fatalf("status %d: %s", status, stderr)
		case <-time.After(time.Millisecond):
			url = regexp.MustCompile(`http://\S+`).FindString(stderr.String())
		}
	}
	return url, func() {
		signals <- syscall.SIGTERM
		if status := <-ended; status != 0 {
			t.Errorf("status %d: %s", status, stderr)
		}
	}
}

// Texts and rows are answered as infer answers them: those of a CSV file at once, a text alone.
func TestServeTextsAndRows(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{"vocab.txt": "[UNK]\n[CLS]\n[SEP]\na\nfilm\n",
		"texts.csv": "text,label\na film,good\na,bad\nfilm,good\na a,bad\n",
		"rows.csv":  "x,y,label\n1,5,a\n2,6,b\n3,7,a\n4,9,b\n", "new.csv": "id,y,x\n7,5,1\n8,8,4\n",
		"new.jsonl": `{"text": "a film a"}`} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(root)
	for _, c := range []struct {
		train      string
		file       string // for infer
		kind, body string
	}{
		{"--model mlp --data rows.csv", "new.csv", "text/csv", "id,y,x\n7,5,1\n8,8,4\n"},
		{"--model bert-tiny --data texts.csv --vocab vocab.txt --sequence 8 --limit-test 0", "new.jsonl",
			"text/plain", "a film a"},
	} {
		run := "run-of-" + c.file
		args := append([]string{"train", "--batch", "2", "--steps", "2", "--out", run, "--quiet"},
			strings.Fields(c.train)...)
		if status, _, text := execute(args...); status != 0 {
			t.Fatalf("train: %s", text)
		}
		_, want, text := execute("infer", run, c.file)
		url, end := served(t, run)
		resp, err := http.Post(url+"/v1/predict", c.kind, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Predictions []struct {
				Label       string
				Probability float64
			}
		}
		err = json.NewDecoder(resp.Body).Decode(&got)
		resp.Body.Close()
		said := "input,label,probability\n"
		for i, p := range got.Predictions {
			said += fmt.Sprintf("%d,%s,%.6f\n", i+1, p.Label, p.Probability)
		}
		if err != nil || said != want || len(got.Predictions) == 0 {
			t.Errorf("%s: the server says\n%s, %v, infer\n%s%s", c.file, said, err, want, text)
		}
		end()
	}
}

func TestServeRefuses(t *testing.T) {
	root := t.TempDir()
	short := filepath.Join(root, "token")
	if err := os.WriteFile(short, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string]string{
		"takes the folder of one run":              "",
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
