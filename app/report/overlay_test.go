package report_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"lockstep/app/evidence/compare"
	"lockstep/app/report"
)

// laid returns a run of 40 steps whose summary says what more does.
func laid(t *testing.T, strategy, configuration, more string) *compare.Training {
	t.Helper()
	var steps strings.Builder
	for step := range 40 {
		fmt.Fprintf(&steps, `{"rank":0,"step":%d,"loss":%g,"samples":64,"rate":0.1,"seconds":0.01,`+
			`"rss_bytes":1048576}`+"\n", step, 2-float64(step)/40)
	}
	run, err := readTraining(strings.NewReader(fmt.Sprintf(`{"model":"lenet","data":"glyphs",`+
		`"strategy":%q,"workers":2,"threads":1,"batch":64,"shards":2,"steps":40,"samples":2560,"seed":1,`+
		`"samples_per_second":6400,`+
		`"isa":"avx2","math":"fast","parameter_sha256":"abc","step_ms":{"median":10,"p10":9,"p90":12},`+
		`"evaluations":[{"steps":20,"accuracy":0.5,"train_seconds":0.2},{"steps":40,"accuracy":0.75,`+
		`"train_seconds":0.4}],"ranks":[{"steps":40,"phases":{"forward":0.1,"backward":0.2,`+
		`"sync_exposed":0.1}}]}`, strategy)), strings.NewReader(steps.String()))
	if err == nil {
		err = json.Unmarshal([]byte("{"+more+"}"), &run.Summary)
	}
	if err != nil {
		t.Fatal(err)
	}
	run.Configuration = configuration
	return run
}

// An overlay says whether its runs did equal work, that one run each decides nothing, what their settings
// differ in, and shows them on the same axes.
func TestOverlay(t *testing.T) {
	ddp := laid(t, "ddp", "# a comment: no setting\nmodel: lenet    # default\nstrategy: ddp   # "+
		"--strategy\nout: a\n", "")
	ps := laid(t, "ps", "model: lenet    # --model\nstrategy: ps    # --strategy\nout: b\nservers: 2\n",
		`"step_ms":{"median":15}`)
	longer := laid(t, "ddp", "model: lenet\nstrategy: ddp\n", `"steps":80`)
	page := overlayPage(t, []string{"first", "second"}, ddp, ps)
	for _, want := range []string{"Equal work.", "≈ measured once", "One run of each decides nothing",
		"All other settings are the same",
		`<td class="prose">ddp</td><td class="prose">ps</td>`,
		`<th scope="row">servers</th><td class="prose">–</td>`,
		`<td>75.0 %<small>after 40 steps</small></td>`,
		`<title id="loss-wide-t">`, `<title id="accuracy-wide-t">`, "All runs end with the same parameters",
		"A B  identical"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, not := range []string{`<th scope="row">out</th>`, `<th scope="row">model</th>`, "other work"} {
		if strings.Contains(page, not) {
			t.Errorf("the page has %q", not)
		}
	}
	page = overlayPage(t, []string{"first", "longer"}, ddp, longer)
	if want := "These did other work than A first: B longer (steps 80 against 40)."; !strings.Contains(page,
		want) {
		t.Errorf("the page lacks %q", want)
	}
}

func overlayPage(t *testing.T, names []string, runs ...*compare.Training) string {
	t.Helper()
	folder := t.TempDir()
	if err := report.Overlay(names, runs).Write(folder); err != nil {
		t.Fatal(err)
	}
	page := unbroken(read(t, folder, report.HTMLFile))
	loadsNothing(t, page)
	isBalanced(t, page)
	return page
}
