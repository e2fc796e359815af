package report_test

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lockstep/app/evidence/question"
	"lockstep/app/record"
)

// stored returns the results of a real benchmark that the tree keeps.
func stored(t *testing.T, path string) *record.Results {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "results", filepath.FromSlash(path)))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var text io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if text, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	r, err := record.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// unbroken returns a page without the marks of what stays on one line.
func unbroken(page string) string {
	return regexp.MustCompile(`<span class="flag">([^<]*)</span>`).ReplaceAllString(page, "$1")
}

// only returns results with the rows of one model.
func only(r *record.Results, model string) *record.Results {
	r.Rows = slices.DeleteFunc(r.Rows, func(row record.Row) bool { return row.Setting.Model != model })
	inTurn(r)
	return r
}

// What a reader sees first is the answer, then its picture, then at most three cautions, and nothing else.
func TestFirstScreen(t *testing.T) {
	for name, test := range map[string]struct {
		results       *record.Results
		answer, block string
		verdict       string
		cautions      int
	}{
		"one winner": {only(sample(), "lenet"), "single 1×2 is the fastest, 5.22 ms a step: 1.73× " +
			"(1.66–1.81) as fast as single 1×1", ">Fastest<", "✓ told apart", 0},
		"undecided": {only(sample(), "vgg11"), "ddp 4×1 takes 189 ms a step, single 1×1 188 ms, " +
			"gather-scatter 4×1 242 ms.", ">Not told apart<", "? not told apart", 2},
		"several": {sample(), "lenet: single 1×2 is the fastest, 5.22 ms a step",
			">Fastest<", "✓ told apart", 2},
		"r3": {stored(t, "r3/results.json"), "all-reduce 4×1 takes 536 ms a step, single 1×2 589 ms, " +
			"ddp 4×1 589 ms, gather-scatter 4×1 599 ms, 1 more.", ">Not told apart<", "? not told apart", 1},
		"r4": {stored(t, "r4/results.json.gz"), "workers: ddp 2×1, 2.41 ms a step, is 1.85× (1.46–2.33)",
			">Not told apart<", "≈ told apart in part", 3},
	} {
		t.Run(name, func(t *testing.T) {
			page := render(t, asPage, test.results)
			if name != "r4" { // whose page is large
				isBalanced(t, page)
				loadsNothing(t, page)
			}
			top := page[strings.Index(page, `<section id="answer"`):]
			top = top[:strings.Index(top, "</section>")]
			at := 0
			top = unbroken(top)
			wants := []string{test.answer, test.verdict, "<figure", "g1-steps-wide-t", test.block}
			if test.cautions > 0 {
				wants = append(wants, "Before you believe it")
			}
			for _, want := range wants {
				found := strings.Index(top[at:], want)
				if found < 0 {
					t.Fatalf("%q is not on the first screen, or too early:\n%s", want, top)
				}
				at += found
			}
			cautions := strings.Count(top, `<li class="caution"`) + strings.Count(top, `<li class="refused"`)
			if cautions != test.cautions {
				t.Errorf("%d cautions above the fold, want %d", cautions, test.cautions)
			}
			if n := strings.Count(top, "<figure"); n != 1 {
				t.Errorf("%d pictures above the fold, want 1", n)
			}
			if strings.Index(page, `id="contents"`) < strings.Index(page, `id="answer"`) {
				t.Error("the contents stand before the answer")
			}
		})
	}
}

// Of a page with questions the first screen has the first answer, the picture that shows it, the cautions and
// the other answers, in this order. What makes rows slower is shown by what their steps are made of.
func TestQuestionsAroundThePicture(t *testing.T) {
	for quantity, picture := range map[string]string{"step": `id="g1-steps"`,
		question.Why: `id="g1-parts"`} {
		r := only(sample(), "vgg11")
		r.Inquiry = &record.Inquiry{Questions: []record.Question{
			{Ask: "Why is it slow?", Quantity: quantity, Of: record.Selector{"strategy": "single"}},
			{Ask: "How fast is it?", Quantity: "rate", Of: record.Selector{"strategy": "single"}}}}
		page := render(t, asPage, r)
		at := 0
		for _, want := range []string{"Why is it slow?", "<figure " + picture, "not told apart",
			"Before you believe it", "✓ yes", "How fast is it?", `id="contents"`, `id="g1-steps`} {
			found := strings.Index(page[at:], want)
			if found < 0 && (want != `id="g1-steps` || quantity == question.Why) {
				t.Fatalf("%s: %q is missing or too early", quantity, want)
			}
			at += max(found, 0)
		}
	}
}

// Without a successful run there is no picture; what is said of it stands on the page all the same.
func TestQuestionsWithoutAPicture(t *testing.T) {
	r := only(sample(), "vgg11")
	for i := range r.Rows {
		for j := range r.Rows[i].Runs {
			r.Rows[i].Runs[j].Error = "rank 0 was killed"
		}
	}
	r.Inquiry = &record.Inquiry{Questions: []record.Question{{Ask: "How fast is it?", Quantity: "rate",
		Of: record.Selector{"strategy": "single"}}}}
	page := render(t, asPage, r)
	for _, want := range []string{"How fast is it?", "No run was successful.", "Before you believe it"} {
		if strings.Count(page, want) != 1 {
			t.Errorf("%q stands %d times on the page, want once", want, strings.Count(page, want))
		}
	}
}

// A caution above the fold is a whole sentence, and lists as many rows as fit.
func TestCautionsAboveTheFoldAreWhole(t *testing.T) {
	for _, path := range []string{"r4/results.json.gz", "pytorch/images-zen5/results.json.gz"} {
		areWhole(t, render(t, asPage, stored(t, path)))
	}
}

// areWhole checks the cautions above the fold of a page: at most three, of which one counts its rows.
func areWhole(t *testing.T, page string) {
	t.Helper()
	top := page[strings.Index(page, `<ul class="cautions">`):]
	top = top[:strings.Index(top, "</ul>")]
	all := regexp.MustCompile(`(?s)</a> (.*?)</li>`).FindAllStringSubmatch(top, -1)
	if len(all) == 0 || len(all) > 3 {
		t.Fatalf("%d cautions above the fold, want 1 to 3", len(all))
	}
	for _, m := range all {
		if !strings.HasSuffix(m[1], ".") {
			t.Errorf("cut: %q", m[1])
		}
	}
	if !regexp.MustCompile(`: \d+ rows\.`).MatchString(top) {
		t.Errorf("no list of rows is shortened:\n%s", top)
	}
}

// The rows of the picture are sorted within each block, and every number of the main tables leads to the
// samples behind it.
func TestPictureIsSortedAndNumbersAreLinked(t *testing.T) {
	page := render(t, asPage, only(sample(), "lenet"))
	var steps []string
	picture := page[strings.Index(page, `<svg class="wide"`):]
	picture = picture[:strings.Index(picture, "</svg>")]
	for _, m := range regexp.MustCompile(`class="name"[^>]*>([A-F])  `).FindAllStringSubmatch(picture, -1) {
		steps = append(steps, m[1])
	}
	if got := strings.Join(steps, ""); got != "BEDCAF" {
		t.Errorf("rows %s, want BEDCAF: the fastest, the slower ones by step, those without exchange", got)
	}
	for _, key := range []string{"A", "B", "C", "D", "E", "F"} {
		if n := strings.Count(page, `<td><a href="#g1-`+key+`">`); n < 8 {
			t.Errorf("%d numbers of row %s lead to its samples", n, key)
		}
		if !strings.Contains(page, `<div class="samples" id="g1-`+key+`">`) {
			t.Errorf("row %s has no samples", key)
		}
	}
}

// rich returns results whose runs tell all that figures are made of: hidden exchange, compression,
// evaluations, three numbers of workers and two batches.
func rich() *record.Results {
	r := only(sample(), "lenet")
	four := sampleRow{"lenet", "ddp", 4, 1, 0.0046, 0.0012, ""}.row(10)
	four.Setting.Shards = 2
	large := sampleRow{"lenet", "ddp", 2, 1, 0.0086, 0.0012, ""}.row(11)
	large.Setting.Batch = 128
	for i := range large.Runs {
		large.Runs[i].Samples *= 2
		for _, rank := range large.Runs[i].Ranks {
			for j := range rank.Steps.Samples {
				rank.Steps.Samples[j] *= 2
			}
		}
	}
	r.Rows = append(r.Rows, four, large)
	r.Host.Cores = 4
	for i := range r.Rows {
		for j := range r.Rows[i].Runs {
			run := &r.Rows[i].Runs[j]
			run.BytesVectors = 2 * run.BytesSent
			run.Evaluations = []record.Evaluation{{Steps: 30, Accuracy: 0.4, TrainSeconds: 0.2},
				{Steps: 60, Accuracy: 0.6, TrainSeconds: 0.4}}
			for rank := range run.Ranks {
				if r.Rows[i].Setting.Workers > 1 {
					run.Ranks[rank].Hidden = new(0.0005)
				}
			}
		}
	}
	return r
}

// Figures stand in the order in which a reader asks: does it scale, what does it reach, where does the time
// go, what do the workers take and send. A figure without data is left out.
func TestFiguresAreInOrder(t *testing.T) {
	ids := func(r *record.Results) string {
		var all []string
		for _, m := range regexp.MustCompile(`<figure id="([^"]*)"`).FindAllStringSubmatch(
			render(t, asPage, r), -1) {
			all = append(all, m[1])
		}
		return strings.Join(all, " ")
	}
	want := "g1-steps batches-accuracy g1-speedup g1-loss g1-accuracy-seconds " +
		"g1-accuracy-samples g1-phases g1-time "
	if got := ids(rich()); !strings.HasPrefix(got, want) {
		t.Errorf("figures %s\nwant %s...", got, want)
	}
	want = "g1-steps g1-loss g1-phases g1-time"
	if got := ids(only(sample(), "lenet")); got != want {
		t.Errorf("figures %s\nwant %s", got, want)
	}
	page := render(t, asPage, rich())
	for _, want := range []string{"2.00 : 1", "hidden communication", "0.5000</td>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// Beside another program the page says first how the fastest row of each side does, and names the program.
func TestFirstScreenBesideAPeer(t *testing.T) {
	page := unbroken(render(t, asPage, stored(t, "pytorch/images-zen5/results.json.gz")))
	top, _, _ := strings.Cut(page, `id="contents"`)
	for _, want := range []string{
		`<h1>lenet and vgg11: 2 strategies, up to 2 workers, beside PyTorch</h1>`,
		`<p class="peer"><b class="sure">✓ told apart</b> ddp 2×1 is \d\.\d\d× \(\d\.\d\d–\d\.\d\d\) as ` +
			`fast as single 1×2 pytorch channels-last, the row of PyTorch with the shortest step\.</p>`,
		`class="name"[^>]*>C  single 1×1 pytorch channels-last<`, // not cut
	} {
		if !regexp.MustCompile(want).MatchString(top) {
			t.Errorf("not on the first screen: %s\n%.6000s", want, top[strings.Index(top, "<main"):])
		}
	}
	text := render(t, asText, stored(t, "pytorch/images-zen5/results.json.gz"))
	if !strings.Contains(text, "told apart: ddp 2×1 is ") {
		t.Errorf("the text does not say so:\n%.2000s", text)
	}
}

// The text has the cautions of the first screen too, right behind the answer.
func TestCautionsAreAtTheTopOfTheText(t *testing.T) {
	item := regexp.MustCompile(`<li class="(\w+)"><a href="#[\w-]+"><b>([^<]*)</b>`)
	for name, r := range map[string]*record.Results{"sample": sample(), "r1": stored(t, "r1/results.json.gz"),
		"r3": stored(t, "r3/results.json"), "contended": stored(t, "r3/recipe/results.json.gz")} {
		page, _, _ := strings.Cut(render(t, asPage, r), `id="contents"`)
		top, _, _ := strings.Cut(render(t, asText, r), "\n### ")
		_, top, _ = strings.Cut(top, "## In short\n")
		found := item.FindAllStringSubmatch(page, -1)
		if len(found) == 0 {
			t.Errorf("%s: the page has no cautions", name)
		}
		for _, one := range found {
			if want := "\n- **" + one[1] + ", " + one[2] + "**: "; strings.Count(top, want) != 1 {
				t.Errorf("%s: %q is %d times in\n%s", name, want, strings.Count(top, want), top)
			}
		}
	}
}
