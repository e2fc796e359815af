package report_test

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/app/evidence/compare"
	"lockstep/app/record"
	"lockstep/app/report"
)

// trainingRun leaves the files of a run with hostile names and 1000 steps of two ranks.
func trainingRun(t *testing.T) (folder string) {
	t.Helper()
	folder = t.TempDir()
	var steps bytes.Buffer
	for step := range 1000 {
		for rank := range 2 {
			fmt.Fprintf(&steps,
				`{"rank":%d,"step":%d,"loss":%g,"own_loss":null,"samples":32,`+
					`"rate":0.1,"seconds":0.01,"shards":%d,`+
					`"bytes_sent":%d,"bytes_received":20000,"cpu_seconds":0.03,`+
					`"usage_seconds":0.02,"rss_bytes":%d}`+"\n",
				rank, step, 2.5-float64(step)/1000, 1+rank, 10000*(rank+1), (100+step/10)<<20)
		}
	}
	files := map[string]string{
		"steps.jsonl": steps.String(),
		"config.yaml": "model: \"<script>alert(1)</script>\"\n",
		"summary.json": `{"model":"<script>alert(1)</script>","data":"glyphs","generated":true,
			"strategy":"ddp","workers":2,"threads":1,"batch":64,"shards":2,"seed":1,"steps":1000,"epochs":2.5,
			"seconds":12,"train_seconds":10,"samples_per_second":6400,
			"loss":{"first":2.5,"last":1.501},
			"test_accuracy":0.75,"test_samples":100,"bytes_sent":30000000,"peak_rss_bytes":419430400,
			"work":{"flops":25000000000000,"flops_per_second":2.5e11,
				"peak_flops":4e11,"fraction_of_peak":0.625},
			"ranks":[{"phases":{"forward":3,"backward":5,"sync_exposed":1,"other":1},"buckets":[
			{"bytes":1048576,"exposed":{"step_seconds":0.001},"hidden":{"step_seconds":0.004}},
			{"bytes":524288,"exposed":{"step_seconds":0.0035},"hidden":{"step_seconds":0}}]},
			{"buckets":null}],
			"parameter_sha256":"abc","isa":"avx2",
			"math":"fast","target":{"accuracy":0.8,"is_reached":false,"steps":1000,
			"train_seconds":10},"checkpoints":{"count":3,"late":1,"exposed_seconds":0.3,"writing_seconds":2,
			"bytes":3145728},"test_loss":0.8125,"cautions":["the loss grew <far>"],
			"scores":{"macro_f1":0.5,"weighted_f1":0.6,"balanced_accuracy":0.625,"roc_auc":null,
			"calibration_error":0.1,"classes":[{"class":"cat","samples":60,"predicted":90,"precision":0.5,
			"recall":0.75,"f1":0.6,"roc_auc":0.875},{"class":"<dog>","samples":40,"predicted":0}],
			"confusion":[[60,0],[40,0]],
			"worst_confusions":[{"class":"<dog>","predicted":"cat","count":40,"examples":[3,7]}]},
			"lost":[{"rank":0,"file":"updates.jsonl","reason":"no space left on device"}],
			"moves":[{"step":31,"from":[4,4],"to":[6,2],"before":0.03,"after":0.02,"ideal":0.018}],
			"evaluations":[{"steps":400,"loss":null,"accuracy":0.5,"train_seconds":4,"seconds":1},
			{"steps":1000,"epochs":2.5,"loss":0.8125,"accuracy":0.75,"learning_rate":0.05,
			"train_seconds":10,"seconds":1,"wall_seconds":12}]}`,
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestReportOfATrainingRun(t *testing.T) {
	folder := trainingRun(t)
	if err := report.WriteTraining(folder); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(folder, report.HTMLFile))
	if err != nil {
		t.Fatal(err)
	}
	page := unbroken(string(text))
	loadsNothing(t, page)
	isBalanced(t, page)
	for _, want := range []string{
		"25.0 TFLOP of forward and backward passes, padded zeros included; 250 GFLOP/s, 62.5 % of the 400 ",
		"75.00 % of 100", "80 % not reached, 1000 steps, 10.0 s of training",
		"3 checkpoints, 3.15 MB; training stood still for 0.300 s (2.5 % of the time), 2.00 s of writing " +
			"beside it, 1 came late",
		"by worker [4 4] at first, [6 2] since step 31",
		`<title id="cpu-wide-t">`, `<title id="memory-wide-t">`, `<title id="sent-wide-t">`,
		`<title id="received-wide-t">`, `<title id="accuracy-wide-t">`, "seconds of training", "rank 1",
		`<td>1.500<small>at 1000</small></td>`,                                      // cores
		`<td>0.5000<small>at 1000</small></td>`, `<td>1<small>at 1000</small></td>`, // MB/s
		`<title id="phases-wide-t">`, "<b>v</b> test samples",
		"75.00 % test accuracy after 1000 steps in 10.0 s of training, 6400 samples/s.", "target not reached",
		"<dt>not whole</dt><dd>updates.jsonl of rank 0 ends early: no space left on device</dd>",
		"<dt>test loss</dt><dd>0.8125</dd>",
		"Never predicted: &lt;dog&gt;.", `<title id="confusion-wide-t">`,
		"<dd>F1 0.500 as plain mean, 0.600 weighted by samples; balanced accuracy 62.50 %;",
		`<td>60</td><td>90</td><td>0.500</td><td>0.750</td><td>0.600</td><td>0.875</td>`,
		`<td>40</td><td>3 7</td>`,
		"<dt>caution</dt><dd>the loss grew &lt;far&gt;</dd>",
		`<th scope="col">epoch</th><th scope="col">rank</th><th scope="col" class="prose">part</th>` +
			`<th scope="col">loss</th><th scope="col">accuracy<small>%</small></th>` +
			`<th scope="col">learning rate</th>` +
			`<th scope="col">training<small>s</small></th><th scope="col">wall time<small>s</small></th>`,
		`<th scope="row">0</th><td>0</td><td class="prose">test</td><td>–</td><td>50.00` +
			`</td><td>–</td><td>4.00</td>` +
			`<td>–</td>`,
		`<th scope="row">2.5</th><td>0</td><td class="prose">test</td><td>0.8125</td><td>75.00` +
			`</td><td>0.0500</td>` +
			`<td>10.0</td><td>12.0</td>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// pagesOf returns the page and the text of the run of [trainingRun], with more at the start of its summary,
// and with files changed.
func pagesOf(t *testing.T, more string, files map[string]string) (page, text string) {
	t.Helper()
	folder := trainingRun(t)
	summary := read(t, folder, "summary.json")
	files["summary.json"] = strings.Replace(cmp.Or(files["summary.json"], summary), "{", "{"+more, 1)
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := report.WriteTraining(folder); err != nil {
		t.Fatal(err)
	}
	return unbroken(read(t, folder, report.HTMLFile)), read(t, folder, report.MarkdownFile)
}

// readTraining reads a run of which a text is the summary.
func readTraining(summary, steps io.Reader) (*compare.Training, error) {
	s, err := record.DecodeSummary(summary)
	if err != nil {
		return nil, err
	}
	return compare.NewTraining(s, steps)
}

// pageOf returns the page of a run with a summary and no steps.
func pageOf(t *testing.T, summary string, change func(*compare.Training)) string {
	t.Helper()
	run, err := readTraining(strings.NewReader(summary), strings.NewReader(""))
	if err != nil {
		t.Fatal(err)
	}
	change(run)
	var page strings.Builder
	if err := report.Run(run).HTML(&page); err != nil {
		t.Fatal(err)
	}
	return unbroken(page.String())
}

// What chose the weights is told with the run, and with a class that it forgot the figure that would not have
// forgotten it. An evaluation has no speed.
func TestReportOfChosenWeights(t *testing.T) {
	const hint = "Never predicted: broken; --best-by macro-f1 chooses by all classes alike."
	for by, want := range map[string]bool{"accuracy": true, "macro-f1": false} {
		page := pageOf(t, `{"workers":1,"steps":10}`, func(run *compare.Training) {
			run.Best = &record.Best{By: by, Value: 0.8, Epochs: 9, IsRestored: true, IsEnough: true}
			run.Scores = &record.Scores{Classes: []record.ClassScore{{Class: "broken", Samples: 5}}}
		})
		why := "The best " + by + " on the validation samples, 0.8, came after epoch 9; none was better"
		if !strings.Contains(page, why) || strings.Contains(page, hint) != want {
			t.Errorf("chosen by %s: no reason, or %q is not %v", by, hint, want)
		}
	}
	page := pageOf(t, `{"workers":1,"evaluations":[{"accuracy":null,"metrics":[{"name":"RMSE","value":2}]}]}`,
		func(*compare.Training) {})
	if !strings.Contains(page, "RMSE 2 on the test samples.") {
		t.Error("an evaluation is told with steps and speed")
	}
}

// A run that others took cores from says so on its first screen, below when and where it was. The figures
// of a resumed run that are those of its last part say so.
func TestReportsOfDisturbedAndResumedRuns(t *testing.T) {
	page, _ := pagesOf(t, `"cores_taken":{"stolen":0,"others":0.51},`,
		map[string]string{"host.json": `{"cpu":"AMD ` +
			`EPYC","usable_cores":2,"started":"2026-11-23T21:40:07Z"}`})
	page = page[:strings.Index(page, `id="contents"`)]
	_, text := pagesOf(t,
		`"phases":{"evaluation":5},"resumed":{"from":"run/checkpoints/step-400","steps":400,`+
			`"seconds":4},`, map[string]string{})
	for in, wants := range map[string][]string{
		page: {"Before you believe it", "Times and speed say how busy the machine was",
			"51 % of the cores&#39; time went to other processes",
			`<p class="lede">23 November 2026, 21:40 UTC · ` +
				`AMD EPYC · 2 cores · one run · ddp · global batch 64 in 2 shards · seed 1</p>`},
		text: {"6400 samples/s since it was resumed after step 400.**",
			"resumed: after step 400; time, speed, work and what was exchanged are those since\n",
			"time: 10.0 s of training in all parts of the run, 7.00 s of it in the last one, which took " +
				"12.0 s with evaluations"}} {
		for _, want := range wants {
			if !strings.Contains(in, want) {
				t.Errorf("the report lacks %q:\n%.3000s", want, in)
			}
		}
	}
}

// The page of a run that ended early, or goes on, says how long it was to be and how it goes on.
func TestReportOfARunWithoutASummary(t *testing.T) {
	for standing, want := range map[string]string{
		`"planned":"9000 steps","checkpoint":"run/checkpoints/step-400","step":400,"resume":"lockstep train` +
			` --resume run"`: "**Ended early after | Planned: 9000 steps. lockstep train --resume run goes " +
			"on after " +
			"step 400.\n",
		`"planned":"20 epochs"`: "Planned: 20 epochs. There is no checkpoint here to go on from.\n",
		`"planned":"9 steps","cause":"the run ended without a word: killed"`: "Planned: 9 steps. The run " +
			"ended without a word: killed. There is no checkpoint here to go on from.\n",
		`"planned":"9 steps","checkpoint":"run/checkpoints/step-400","going_on":true`: "**Going " +
			"on, after | Planned: 9 steps.\n|, going on\n",
	} {
		folder := trainingRun(t)
		text := strings.Replace(read(t, folder, "summary.json"), "{",
			`{"interrupted":true,"standing":{`+standing+`},`, 1)
		summary, err := record.DecodeSummary(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		run, err := report.ReadUnfinished(folder, summary)
		if err == nil {
			err = report.Run(run).Write(folder)
		}
		if err != nil {
			t.Fatal(err)
		}
		page := read(t, folder, report.MarkdownFile)
		for part := range strings.SplitSeq(want, "|") {
			if !strings.Contains(page, strings.TrimLeft(part, " ")) {
				t.Errorf("the page lacks %q:\n%s", part, page)
			}
		}
	}
}

func TestReportOfADamagedRunNamesTheFile(t *testing.T) {
	for name, text := range map[string]string{"summary.json": "{", "steps.jsonl": `{"rank":-1}`,
		"config.yaml": ""} {
		folder := trainingRun(t)
		path := filepath.Join(folder, name)
		err := os.WriteFile(path, []byte(text), 0o644)
		if text == "" {
			err = os.Remove(path)
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := report.WriteTraining(folder); err == nil || !strings.Contains(err.Error(), folder) {
			t.Errorf("%s: error %v", name, err)
		}
		if _, err := os.Stat(filepath.Join(folder, report.HTMLFile)); err == nil {
			t.Errorf("%s: there is a report", name)
		}
	}
}

// A page says what of a run is unusual, and nothing of what is not: servers, several hosts, cores that
// workers share, which are started one by one and take all of them.
func TestWhatIsUnusualOfARun(t *testing.T) {
	const contention, hosts = "contention", `<div id="hosts">`
	const four = `{"rank":0,"host":"a"},{"rank":1,"host":"a"},{"rank":2,"host":"b"},{"rank":3,"host":"b"}`
	run := func(threads int, ranks string) string {
		const summary = `{"model":"lenet","data":"glyphs","workers":4,"threads":%d,"steps":1,"ranks":[%s]}`
		return fmt.Sprintf(summary,
			threads, ranks)
	}
	for _, test := range []struct{ summary, want, never string }{
		{`{"workers":2,"steps":1,"strategy":"ps","server_place":"apart","busiest_bytes":3145728,` +
			`"server_bytes":2097152,"bytes_sent":4194304,"servers":[{"rank":2},{"server":1,"rank":3}]}`,
			"ps, 2 servers apart|3.15 MB in and out of a process, 2.10 MB of one with a server", hosts},
		{run(1, four), "<h1>lenet on glyphs: 4 workers on 2 hosts × 1 thread</h1>", contention},
		{run(1, `{"rank":0,"host":"a"},{"rank":1,"host":"a"}`),
			"<h1>lenet on glyphs: 4 workers × 1 thread</h1>",
			hosts},
		{run(4, four), "2 workers × 4 threads on 4 cores: times show contention for cores, not scaling. " +
			"--threads 2 " +
			"gives each worker cores of its own.", `<p class="alert"`},
		{run(2, four), "2 threads", contention},
		{run(1, strings.ReplaceAll(four, `"b"`, `"a"`)+`,{"rank":4,"host":"a"}`),
			"5 workers × 1 thread on 4 cores: " +
				"times show contention for cores, not scaling.</li>", hosts},
		{run(4, `{"rank":0},{"rank":1}`), "4 threads", contention},
	} {
		page := pageOf(t, test.summary, func(r *compare.Training) { r.Machine.LogicalCores = 4 })
		for want := range strings.SplitSeq(test.want, "|") {
			if !strings.Contains(page, want) {
				t.Errorf("%s: the page lacks %q", test.summary, want)
			}
		}
		if strings.Contains(page, test.never) {
			t.Errorf("%s: the page has %q", test.summary, test.never)
		}
	}
}
