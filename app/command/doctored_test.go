package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lockstep/app/analysis"
	"lockstep/app/job"
	"lockstep/app/record"
)

// sealedResults returns a measured results.json as this version writes it.
func sealedResults(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "results", "r3", "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := record.Decode(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := record.Encode(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// field is a value of a JSON document.
type field struct {
	path string // with [] for any place of a list
	is   any
	set  func(any)
}

// fieldsOf lists all values below v, lists and objects too.
func fieldsOf(v any, path string, set func(any), out *[]field) {
	*out = append(*out, field{path, v, set})
	switch x := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(x)) {
			fieldsOf(x[k], path+"."+k, func(n any) { x[k] = n }, out)
		}
	case []any:
		for i := range x {
			fieldsOf(x[i], path+"[]", func(n any) { x[i] = n }, out)
		}
	}
}

// doctorings returns other values of a kind.
func doctorings(v any) []any {
	switch x := v.(type) {
	case json.Number:
		f, _ := x.Float64() // JSON has numbers
		if strings.ContainsAny(x.String(), ".e") {
			return []any{f * 0.9, f * 1.1, -f, 1e300}
		}
		return []any{json.Number(fmt.Sprint(int64(f) + 1)), json.Number(fmt.Sprint(int64(f) - 1)),
			json.Number(fmt.Sprint(int64(f)/2 + 7))}
	case string:
		return []any{x + "x", strings.ToUpper(x), "", `<b onclick="x()">|\x1b[31m=1+1`, "a\u202eb\x00c",
			strings.Repeat("long ", 2000)}
	case bool:
		return []any{!x}
	case []any:
		out := []any{nil}
		if len(x) > 0 {
			out = append(out, x[1:], x[:len(x)-1], append(slices.Clone(x), x[len(x)-1]))
		}
		if len(x) > 1 {
			turned := slices.Clone(x)
			turned[0], turned[1] = turned[1], turned[0]
			out = append(out, turned)
		}
		return out
	case map[string]any:
		return []any{nil}
	}
	return nil
}

// Whatever field of a results.json is changed: it is refused, unless nothing of it is read at all.
func TestEveryDoctoredFieldIsRefused(t *testing.T) {
	d := json.NewDecoder(bytes.NewReader(sealedResults(t)))
	d.UseNumber()
	var document any
	if err := d.Decode(&document); err != nil {
		t.Fatal(err)
	}
	var all []field
	fieldsOf(document, "", nil, &all)
	var order []string
	of := map[string][]field{}
	for _, l := range all[1:] {
		if of[l.path] == nil {
			order = append(order, l.path)
		}
		of[l.path] = append(of[l.path], l)
	}
	cases := 0
	for _, path := range order {
		one := of[path][2*len(of[path])/3]
		for _, value := range doctorings(one.is) {
			before, _ := json.Marshal(one.is)
			after, _ := json.Marshal(value)
			if bytes.Equal(before, after) || path == ".seal" && value == "" || path == ".schema" {
				continue
			}
			cases++
			one.set(value)
			text, err := json.Marshal(document)
			one.set(one.is)
			if err != nil {
				t.Fatal(err)
			}
			r, err := record.Decode(bytes.NewReader(text))
			if err == nil && len(analysis.Compare(r).Contradictions()) == 0 && !isSame(one.is, value) {
				t.Errorf("%s: %.40s instead of %.40s is not noticed", path, after, before)
			}
		}
	}
	if cases < 300 {
		t.Errorf("%d cases, want 300 or more", cases)
	}
}

// isSame reports whether a value is read as the other one: a null as what has no element or is zero.
func isSame(was, is any) bool {
	isEmpty := func(v any) bool {
		switch x := v.(type) {
		case nil:
			return true
		case []any:
			return len(x) == 0
		case map[string]any:
			return len(x) == 0
		case json.Number:
			f, err := x.Float64()
			return err == nil && f == 0
		case float64:
			return x == 0
		}
		return false
	}
	return isEmpty(was) && isEmpty(is)
}

// What is changed in the text of a file is refused with status 8 and a reason, by check and by report; what
// says the same in another way is not.
func TestDoctoredTexts(t *testing.T) {
	text := string(sealedResults(t))
	folder := t.TempDir()
	path := filepath.Join(folder, "results.json")
	for _, c := range []struct{ name, old, now, want string }{
		{"as it was", "", "", ""},
		{"indented", "{", "{ \n", ""},
		{"a field that nobody knows", `"ranks":`, `"nobody":1,"ranks":`, ""},
		{"a decimal more", `"load":2.52`, `"load":2.520`, ""},
		{"an exponent", `"load":2.52`, `"load":252e-2`, ""},
		{"samples halved", `"samples":10240`, `"samples":5120`, "together, the run on 5120"},
		{"a strategy renamed", `"strategy":"ddp"`, `"strategy":"fast"`, "the row says"},
		{"a machine of more cores", `"cores":2`, `"cores":64`, "the machine"},
		{"another processor", "AMD EPYC", "Apple M9", "the machine"},
		{"an idle machine", `"load":2.52`, `"load":0.01`, "the machine"},
		{"a longer benchmark", `"seconds":571.226142589`, `"seconds":9571.2`, "The seal of the results"},
		{"another version", `"version":"(devel)"`, `"version":"9.9"`, "The seal of the results"},
		{"another command", "--steps=40", "--steps=4000", "the command"},
		{"generated data", `"generated":false`, `"generated":true`, "the settings of a row"},
		{"fewer classes", `"classes":10`, `"classes":2`, "the settings of a row"},
		{"another link", `"link":"tcp"`, `"link":"shm"`, "the settings of a row"},
		{"other bits", `"parameter_sha256":"4a2f`, `"parameter_sha256":"4a2e`, "its seal is not that"},
		{"less memory", `"peak_rss_bytes":2`, `"peak_rss_bytes":1`, "its seal is not that"},
		{"fewer bytes", `"bytes_sent":8872443072`, `"bytes_sent":88724430`, "its seal is not that"},
		{"less exchange", `"sync_exposed":[0.`, `"sync_exposed":[0.0`, "its phases"},
		{"a better loss", `"loss":[2`, `"loss":[1`, "its seal is not that"},
		{"a better accuracy", `"train_accuracy":0.2`, `"train_accuracy":0.8`, "its seal is not that"},
		{"another momentum", `"momentum":0.9`, `"momentum":0.1`, "its seal is not that"},
		{"a seal of another run", `"seal":"`, `"seal":"00`, "its seal is not that"},
		{"a run without its seal", `,"seal":"`, `,"sael":"`, "the list of runs"},
		{"another reason", `"reason":"One worker`, `"reason":"Two workers`, "The seal of the results"},
		{"markup", "AMD EPYC", "<script>alert(1)</script>", "the machine"},
		{"escapes", "AMD EPYC", `\u001b[31mred\u0007`, "the machine"},
		{"pipes", "AMD EPYC", "a | b | c", "the machine"},
		{"a formula", "AMD EPYC", "=1+1", "the machine"},
		{"a turned direction", "AMD EPYC", `\u202egnp\u2066`, "the machine"},
		{"a zero byte", "AMD EPYC", `\u0000`, "the machine"},
		{"a long name", "AMD EPYC", strings.Repeat("long", 5000), "the machine"},
		{"half a pair", "AMD EPYC", `\ud800`, "the machine"},
		{"a name of a path", `"directory":"runs/`, `"directory":"../../etc/`, "its seal is not that"},
	} {
		t.Run(c.name, func(t *testing.T) {
			now := strings.Replace(text, c.old, c.now, 1)
			if now == text && c.old != "" {
				t.Fatalf("the file has no %s", c.old)
			}
			if err := os.WriteFile(path, []byte(now), 0o644); err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{{"check", path}, {"report", folder}, {"check", path, "--json"}} {
				status, stdout, stderr := execute(args...)
				want := job.ExitOK
				if c.want != "" {
					want = job.ExitCheck
				}
				if status != want || !strings.Contains(stdout+stderr, c.want) {
					t.Errorf("%v: status %d, %.400q, %.400q; want %q", args, status, stdout, stderr, c.want)
				}
				if strings.ContainsAny(stdout+stderr, "\x00\x1b\a\u202e\u2066") {
					t.Errorf("%v: characters that are not shown: %.400q", args, stdout+stderr)
				}
			}
		})
	}
}

// A file of which the seals were cut off is one of an older version, and check says what that means.
func TestResultsWithoutSeal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.json")
	text := strings.ReplaceAll(string(sealedResults(t)), `"seal":`, `"sael":`)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	status, stdout, stderr := execute("check", path)
	if status != job.ExitOK || !strings.Contains(stdout, "warning: no seal: The file has no seal") {
		t.Errorf("status %d, %q, %q", status, stdout, stderr)
	}
}

// A file in which some seals are missing was changed, and one whose members are in another order is still
// known as a benchmark's.
func TestSealsCannotBeLeftOut(t *testing.T) {
	text := string(sealedResults(t))
	outer := regexp.MustCompile(`,"seal":"[0-9a-f]*"\}\s*$`)
	inner := regexp.MustCompile(`,"seal":"[0-9a-f]*"`)
	if !outer.MatchString(text) {
		t.Fatal("the seal of the results is not at the end")
	}
	changed := strings.Replace(text, `"samples":`, `"samples":1`, 1)
	for name, c := range map[string]struct{ text, want string }{
		"outer":    {outer.ReplaceAllString(text, "}"), "has a seal, and the results have none"},
		"empty":    {outer.ReplaceAllString(text, `,"seal":""}`), "has a seal, and the results have none"},
		"inner":    {strings.Replace(text, inner.FindString(text), "", 1), "no seal, and the results do"},
		"remark":   {`{"remark":"",` + changed[1:], "its seal is not that of its figures"},
		"mark":     {"\ufeff" + changed, "its seal is not that of its figures"},
		"in order": {`{"remark":"",` + text[1:], ""},
	} {
		path := filepath.Join(t.TempDir(), "results.json")
		if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		status, stdout, stderr := execute("check", path)
		want := job.ExitCheck
		if c.want == "" {
			want = job.ExitOK
		}
		if status != want || !strings.Contains(stdout, c.want) || !strings.Contains(stdout, "results") {
			t.Errorf("%s: status %d, %.600q, %q; want %d and %q", name, status, stdout, stderr, want, c.want)
		}
	}
}

// What check refuses and does not contradict itself has a report that says so before its first figure.
func TestReportsSayAtTheTopWhatIsRefused(t *testing.T) {
	folder := t.TempDir()
	r := measuredRounds(t)
	was := r.Rows[3].Runs[1]
	r.Rows[3].Runs[1] = record.Run{Round: was.Round, Position: was.Position, Directory: was.Directory,
		Started: was.Started, Wall: was.Wall, Error: "worker lost"}
	reseal(t, folder, r)
	if status, _, stderr := execute("report", folder); status != job.ExitOK {
		t.Fatalf("status %d, %q", status, stderr)
	}
	text, err := os.ReadFile(filepath.Join(folder, "report.md"))
	if err != nil {
		t.Fatal(err)
	}
	top, _, _ := strings.Cut(string(text), "\n### ")
	if want := "- **refused, failed**: ddp 4×1"; !strings.Contains(top, want) {
		t.Errorf("want %q in\n%s", want, top)
	}
	if status, _, _ := execute("check", filepath.Join(folder, "results.json")); status != job.ExitCheck {
		t.Errorf("check: status %d", status)
	}
}
