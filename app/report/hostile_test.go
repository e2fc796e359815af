package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"lockstep/app/evidence/compare"
	"lockstep/app/record"
	"lockstep/app/report"
)

// hostile are names as nobody gives them to a model, a host or a data set, unless to break what shows them.
func hostile() map[string]string {
	return map[string]string{
		"markup": `"><script>alert('1')</script><img src=x onerror=alert(1)>&lt;b&gt;&#60;script&#62;` +
			`</style><style>*{display:none}</style></title></svg><svg onload=alert(1)>`,
		"markdown": "a | b `c` *d* _e_ [x](https://example.test) # f <https://example.test> " +
			"www.example.test",
		"fence":     "```\n# heading\n````",
		"formula":   `=HYPERLINK("http://example.test","x")`,
		"escape":    "\x1b[31mred\x1b]0;title\a\u200bb\ufeffc\u00add\xff {{.}} {{define \"x\"}}",
		"direction": "abc\u202egnp.exe\u202c \u2066x\u2069 \u200f first\r\nsecond\u2028third\x00",
	}
}

// named returns results in which every text that comes from outside is name.
func named(name string) *record.Results {
	r := only(sample(), "vgg11")
	r.Command = []string{"lockstep", name}
	r.Host.CPU, r.Host.Name, r.Host.Kernel, r.Version, r.Revision, r.Go = name, name, name, name, name, name
	r.Skipped[0].Reason, r.Skipped[0].Model = name, name
	for i := range r.Rows {
		s := &r.Rows[i].Setting
		s.Model, s.Data, s.Algorithm, s.Link, s.Wire, s.Options = name, name, name, name, name, name
		if i%2 == 1 {
			s.Condition = name
		}
		for j := range r.Rows[i].Runs {
			run := &r.Rows[i].Runs[j]
			run.ISA, run.ParameterSHA256, run.Directory = name, name, name
			text, _ := json.Marshal(map[string]string{name: name})
			run.Config = text
			if run.Error != "" {
				run.Error = name
			}
		}
	}
	return r
}

// training returns a run in which every text is name.
func training(t *testing.T, name string) *compare.Training {
	t.Helper()
	summary, err := json.Marshal(map[string]any{"model": name, "data": name, "strategy": name, "workers": 1,
		"steps": 2, "isa": name, "math": name, "parameter_sha256": name, "cautions": []string{name},
		"step_ms": map[string]float64{"median": 1}})
	if err != nil {
		t.Fatal(err)
	}
	run, err := readTraining(bytes.NewReader(summary), strings.NewReader(
		`{"rank":0,"step":0,"seconds":1,"loss":2,"samples":8}`+"\n"+
			`{"rank":0,"step":1,"seconds":1,"loss":1,"samples":8}`+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	run.Configuration = "model: " + name + "\n"
	return run
}

// collectivesNamed returns measurements in which every text is name.
func collectivesNamed(name string) report.Measured {
	all := collectives()
	for i := range all {
		all[i].Operation, all[i].Link, all[i].Algorithm, all[i].Codec = name, name,
			name, name
	}
	return report.Measured{Command: []string{name}, Host: record.Machine{CPU: name, Name: name},
		Collectives: all}
}

// Every writer shows every hostile name as text: on the page, in Markdown, on a terminal, in SVG and CSV
// files.
func TestHostileNamesInAllWriters(t *testing.T) {
	for what, name := range hostile() {
		t.Run(what, func(t *testing.T) {
			measured, err := report.Collectives(collectivesNamed(name))
			if err != nil {
				t.Fatal(err)
			}
			other := training(t, name)
			other.Configuration = "data: " + name + "\n"
			for kind, r := range map[string]*report.Report{"benchmark": report.Benchmark(named(name)),
				"training": report.Run(training(t, name)), "collectives": measured,
				"overlay": report.Overlay([]string{name, name}, []*compare.Training{training(t, name),
					other})} {
				folder := t.TempDir()
				if err := r.Write(folder); err != nil {
					t.Fatal(err)
				}
				page := read(t, folder, report.HTMLFile)
				checkPage(t, kind, page)
				checkMarkdown(t, kind, read(t, folder, report.MarkdownFile))
				for _, picture := range regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(page, -1) {
					checkSVG(t, kind, picture)
				}
			}
			checkPlain(t, "terminal", render(t, (*report.Report).Text, named(name)))
		})
	}
}

func read(t *testing.T, folder, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func checkPage(t *testing.T, kind, page string) {
	t.Helper()
	checkPlain(t, kind+" page", page)
	isBalanced(t, page)
	for _, forbidden := range []string{"<script", "<img", " onerror", "onload=alert(1)>", "</style><style>",
		"</title></svg><svg"} {
		if i := strings.Index(page, forbidden); i >= 0 && !strings.Contains(forbidden, " onerror") ||
			forbidden == " onerror" && strings.Contains(page, "<img src=x onerror") {
			t.Errorf("%s page: %s", kind, page[max(0, i-80):min(len(page), i+80)])
		}
	}
	if strings.Count(page, "<style>") != 1 {
		t.Errorf("%s page: a second style sheet", kind)
	}
}

func checkMarkdown(t *testing.T, kind, text string) {
	t.Helper()
	checkPlain(t, kind+" text", text)
	columns, fence := 0, ""
	for line := range strings.Lines(text) {
		if ticks := line[:len(line)-len(strings.TrimLeft(line, "`"))]; len(ticks) >= 3 {
			if fence == "" {
				fence = ticks
			} else if ticks == fence {
				fence = ""
			}
			continue
		}
		if fence != "" {
			continue
		}
		for _, forbidden := range []string{"<script", "<img", "<svg", "<style", "://", "www."} {
			if strings.Contains(line, forbidden) {
				t.Errorf("%s text holds %s: %.200s", kind, forbidden, line)
			}
		}
		if strings.HasPrefix(line, "# heading") {
			t.Errorf("%s text: a name starts a heading", kind)
		}
		if !strings.HasPrefix(line, "|") {
			columns = 0
			continue
		}
		n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
		if columns == 0 {
			columns = n
		}
		if n != columns {
			t.Errorf("%s text: %d cells under %d headings: %.200s", kind, n-1, columns-1, line)
		}
	}
	if fence != "" {
		t.Errorf("%s text: a fence stays open", kind)
	}
}

// checkSVG looks for what a picture must not hold: it is well-formed, without scripts.
func checkSVG(t *testing.T, name, text string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		start, isStart := token.(xml.StartElement)
		if !isStart {
			continue
		}
		if start.Name.Local == "script" || start.Name.Local == "img" {
			t.Errorf("%s holds an element %s", name, start.Name.Local)
		}
		for _, a := range start.Attr {
			if strings.HasPrefix(a.Name.Local, "on") || strings.Contains(a.Value, "var(--") {
				t.Errorf("%s: %s=%s", name, a.Name.Local, a.Value)
			}
		}
	}
}

// checkPlain looks for characters that move a cursor, turn the direction of text, or do not show.
func checkPlain(t *testing.T, name, text string) {
	t.Helper()
	for _, r := range text {
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar ||
			r == '\u2028') {
			t.Errorf("%s holds %U", name, r)
			return
		}
	}
}
