package claim_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"lockstep/app/claim"
	"lockstep/app/host"
)

// What cannot be read is refused with what was read, what is read, and what to do.
func TestUnreadable(t *testing.T) {
	wide := strings.Repeat("a,", 250) + "a\n" + strings.Repeat("1,", 250) + "1\n"
	for name, c := range map[string]struct{ text, want string }{
		"empty":           {"", "neither a table nor a sentence"},
		"no text":         {"\xff\xfe\x00a", "no UTF-8"},
		"bad JSON":        {`[{"a":1}`, "ends early"},
		"two documents":   {`[] []`, "more than one JSON document"},
		"an empty list":   {`[]`, "neither a table nor a sentence"},
		"headings alone":  {"strategy,workers\n", "neither a table nor a sentence"},
		"a member twice":  {`[{"a":1,"a":2}]`, `two members "a" in one object`},
		"hidden rows":     {"a,b,c\n1,2,\"3\n4,5,6\"\n", "line 2: a quote that its line"},
		"deep JSON":       {strings.Repeat("[", 40), "nests deeper"},
		"a ragged row":    {"a,b\n1,2\n1,2,3\n", "line 3 of the table has 3 cells"},
		"an open quote":   {"# Ours.\na,b\n\"1,2\n3,4\n", "line 3: a quote that its line does not close"},
		"a late quote":    {"a,b\n1,2\n# Yes.\n3,\"4\n5,\"6\"\n", "line 4: a quote that its line does"},
		"an open heading": {"a,\"b\n1,2\n", "line 1: a quote"},
		"a last quote":    {"a,b\n1,2\n3,\"4\n", "line 3: a quote"},
		"too many cells":  {`{"columns":["a"],"rows":[[1,2]]}`, "row 1 has 2 cells"},
		"rows of words":   {`["a","b"]`, "row 1 is neither"},
		"rows of none":    {`{"rows":3}`, "rows that are no list"},
		"too wide":        {wide, "251 columns"},
		"too long":        {"a,b\n" + strings.Repeat("1,2\n", 5001), "5001 rows"},
		"too large":       {strings.Repeat("a,b\n", 1<<22+1), "more than 16 MiB"},
		"cut results":     {`{"schema":3,"rows":[{"setting":`, "unexpected EOF"},
		"a run's summary": {`{"schema":3,"model":"lenet"}`, "results without rows"},
		"other results":   {`{"schema":1,"kind":"kernels"}`, "of kind kernels"},
		"a page":          {"\n<!doctype html><title>a</title>", "an HTML page"},
		"a page, later":   {strings.Repeat(" ", 80) + "<!-- a, b -->\n<html><p>a, b", "an HTML page"},
		"wordy":           {strings.Repeat("It is so. ", 5001), "more than 5000 sentences"},
	} {
		_, err := claim.Read(strings.NewReader(c.text), "")
		var input *claim.InputError
		if !errors.As(err, &input) || !strings.Contains(err.Error(), c.want) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want an InputError with %q", name, err, c.want)
		}
	}
}

// Names that would write on the terminal show as what they are.
func TestHostileNames(t *testing.T) {
	hostile := "\x1b[31mred\x1b[0m\u202egnp\u200b\t\u0085"
	r := check(t, "x.csv", fmt.Sprintf("label,step ms,speed-up\n%s,10 ± 1,1\n%s,10 ± 1,3\n# %s wins.\n",
		hostile, hostile,
		hostile))
	text := render(r)
	for _, bad := range []string{"\x1b", "\u202e", "\u200b", "\u0085", "\t"} {
		if strings.Contains(text, bad) {
			t.Errorf("%q reaches the terminal", bad)
		}
	}
	if !strings.Contains(text, `\x1b[31mred`) && !strings.Contains(text, `\u001b[31mred`) {
		t.Errorf("the name is not shown: %s", text)
	}
}

// The JSON report has lists in place of null, and says what was not read.
func TestJSON(t *testing.T) {
	r := check(t, "x.csv", "label,step ms,flavour\na,soon,red\nb,10 ± 1,blue\n")
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"objections":[`, `"statements":[]`,
		`\"soon\" is no number for \"step ms\"`,
		`column \"flavour\"`, `"tables":1`, `"rows":2`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s lacks %s", text, want)
		}
	}
}

// What is out of range, and what is no number, is said with its place.
func TestPlaceOfBadCells(t *testing.T) {
	r := check(t, "x.csv", "label,workers,samples/s\na,1,100 ± 1\nb,-1,NaN\nc,0,90 ± 1\nd,all,80 ± 1\n")
	text := render(r)
	for _, want := range []string{
		`table 1, row 2: "workers" is "-1", and in rows below it: want a whole number from 1 to 1000000`,
		`table 1, row 2: "NaN" is no number for "samples/s"`,
		`table 1, row 4: "all" is no number for "workers"`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s\nlacks %s", text, want)
		}
	}
}

// Equal documents give equal reports, the intervals of the bootstrap included.
func TestRepeatable(t *testing.T) {
	text := strings.Replace(paired, "ddp,2,6", "ddp,2,7", 1) + "\n# ddp is the fastest.\n" // no longer paired
	first := render(check(t, "", text))
	if again := render(check(t, "", text)); again != first || !strings.Contains(first, "ratio") {
		t.Errorf("%s\n%s", first, again)
	}
}

// What a file costs to check grows with its size, not with the square of it. Where the system tells, the
// processor's time is looked at: others may have the cores.
func TestLongFilesAreCheckedInTime(t *testing.T) {
	var rows strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&rows, "| r%d | %d.5 |\n", i, 1000+i)
	}
	for name, text := range map[string]string{
		"abbreviations": mended + strings.Repeat("e.g. ", 100_000),
		"times of many rows": "| strategy | total s |\n|---|---|\n" + rows.String() + "\n" +
			strings.Repeat("The time went from 10 s to 5 s.\n\n", 500),
	} {
		meter := host.NewMeter()
		check(t, "report.md", text)
		used := meter.Step(time.Now(), 0, 0)
		if took := cmp.Or(used.CPU, used.Wall); took > 20*time.Second {
			t.Errorf("%s: %v", name, took)
		}
	}
}
