package command

import (
	"encoding/json"
	"flag"
	"os"
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
