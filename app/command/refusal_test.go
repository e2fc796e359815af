package command

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

var refusalFile = flag.String("refusalfile", "", "file that gets what tests of refusals have seen")

// turnedAway is a line of that file: how a command has ended that something kept from its work.
type turnedAway struct {
	Case   string `json:"case"`
	Test   string `json:"test"`
	Status int    `json:"status"`
	Millis int64  `json:"ms"` // from the start of the command to its end
	Said   string `json:"said"`
}

// keepRefusal appends a line to the file, with what of the output begins with lockstep: or contains about.
func keepRefusal(t *testing.T, what, about string, status int, took time.Duration, output string) {
	t.Helper()
	folder := regexp.MustCompile(`/tmp/Test\w+/\d+`) // of this run of the test
	var said []string
	for line := range strings.Lines(output) {
		if strings.HasPrefix(line, "lockstep: ") || about != "" && strings.Contains(line, about) {
			said = append(said, folder.ReplaceAllString(strings.TrimSpace(line), "TMP"))
		}
	}
	appendLine(t, *refusalFile, turnedAway{what, t.Name(), status, took.Milliseconds(),
		strings.Join(said, " / ")})
}

// appendLine appends a line of JSON to a file of results, unless its name is "".
func appendLine(t *testing.T, name string, value any) {
	t.Helper()
	if name == "" {
		return
	}
	line, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err == nil {
		_, err = file.Write(append(line, '\n'))
		file.Close() // what is missing shows in the tables
	}
	if err != nil {
		t.Fatal(err)
	}
}

// An error quotes the start of what was given, however long that is.
func TestRefusalsAreShort(t *testing.T) {
	long := strings.Repeat("x", 10_000)
	file := filepath.Join(t.TempDir(), "long")
	text := "batch: \"" + strings.Repeat("x y ", 5_000) + "\"\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{long}, {"train", "--" + long}, {"train", "--batch", long}, {"train", "--config", file},
		{"train", "--out", long}, {"train", "--groups", strings.Repeat("x y ", 5_000)}, {"replay", long},
		{"launch", "--hostfile", file, "--", "train"}, {"launch", "--hostfile", long, "--", "train"},
	} {
		status, _, stderr := execute(args...)
		if status == 0 || len(stderr) > 1000 {
			t.Errorf("%.60q: status %d, %d bytes: %.300s", args, status, len(stderr), stderr)
		}
	}
}
