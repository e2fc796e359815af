package check_test

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"lockstep/app/check"
)

// judged returns what a check finds in a document.
func judged(t *testing.T, name, text string) *check.Report {
	t.Helper()
	d, err := check.Read(strings.NewReader(text), name)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return check.Check(d)
}

// rulesOf returns the rules that object, but for the one that asks for repeats.
func rulesOf(r *check.Report) []string {
	var out []string
	for _, o := range r.Objections {
		if o.Rule != "one run" && !slices.Contains(out, o.Rule) {
			out = append(out, o.Rule)
		}
	}
	return out
}

// Every figure has its kind, whatever it stands in: units, headings in brackets, either orientation, lists,
// logs, sentences.
func TestKinds(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a.csv", "gpus,epoch time (s),img/s,best acc\n1,20.5,1000,91.2\n",
			"workers 1; time/epoch 20.5; rate 1000; accuracy 0.912"},
		{"b.md", "| Metric | One | Two (2 GPUs) |\n|---|---|---|\n| Total Time | 1h 30m | 2,700s |\n| " +
			"Val " +
			"Acc | 62.5% | 0.63 |\n",
			"workers 2; time/total 5400; time/total 2700; accuracy 0.625; accuracy 0.63"},
		{"c.txt", "Average loss: 2.5, Accuracy: 1050/10000 (10%)\n",
			"loss 2.5; count 1050; count 10000; accuracy 0.1"},
		{"d.md", "- Total batches: 12,000 in 30s (~400 batches/s)\n- Network time: ~9.5s per node\n",
			"count 12000; time/total 30; rate 400; time/part 9.5"},
		{"e.txt", "Name        Total Time   Final Loss\n----------------\nrun one 12.50      1.25\nrun " +
			"two 25.00      1.50\n",
			"time/total 12.5; loss 1.25; time/total 25; loss 1.5"},
		{"f.json", `{"one":{"step_ms":8,"speedup":1},"two":{"step_ms":4,"speedup":2}}`,
			"speed-up 1; time/step 0.008; speed-up 2; time/step 0.004"},
		{"g.md", "ResNet50 on CIFAR-10 with a batch size of 128 reached 92.5% accuracy on 4 GPUs at " +
			"10.0.0.1.\n",
			"batch 128; accuracy 0.925; workers 4"},
		{"h.md", "Rank 0 took 1.5x as long, $2.50/hour, 2026-11-28 12:30:01, 1e-3 learning rate, 5-12Ã—\n",
			"name 0; ratio 1.5; price 0.00069444; learning rate 0.001; ratio 5; ratio 12"},
	} {
		d, err := check.Read(strings.NewReader(c.text), c.name)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range d.Figures {
			kind := string(f.Kind)
			if f.Scope != "" {
				kind += "/" + string(f.Scope)
			}
			got = append(got, fmt.Sprintf("%s %.5g", kind, f.Value))
		}
		if s := strings.Join(got, "; "); s != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, s, c.want)
		}
	}
}

// A relation that is broken is refused or warned of, with its arithmetic; the same document with the right
// figure is not.
func TestRelations(t *testing.T) {
	const head = "| gpus | total time (s) | epoch time (s) | speedup | efficiency " +
		"|\n|---|---|---|---|---|\n"
	const sameTime = "" +
		"| Metric | One (1 GPU) |\n|---|---|\n| Total time | 2405.0 s |\n| Epoch time | 120.25 s |\n\n" +
		"## More\n\n| gpus | total time | epoch s |\n|---|---|---|\n"
	const twoRates = "" +
		"| Metric | One (1 GPU) | Two (2 GPUs) |\n|---|---|---|\n| Epoch time | 20 s | 11 s |\n" +
		"| Batch size | 128 | 64 per GPU (128 in all) |\n"
	const projected = "" +
		"| gpus | epoch s | speedup |\n|---|---|---|\n| 1 | 178.1 | 1.00x |\n| 2 | 100.1 | 1.78x |\n\n" +
		"## Predictions\n\n| gpus | epoch s | speedup |\n|---|---|---|\n| 2 | 100.1 | 1.78x |\n"
	const lossLog = "| step | loss |\n|---|---|\n| 20 | 2.1 |\n| 40 | 1.8 |\n\n"
	const bestLoss = "run,loss,accuracy\na,0.2,88.0\nb,0.3,87.0\nc,0.4,86.0\n"
	for _, c := range []struct{ rule, name, wrong, right, arithmetic string }{
		{"speed-up", "a.csv", "workers,step ms,speedup\n1,100,1.00\n2,56,1.95\n",
			"workers,step ms,speedup\n1,100,1.00\n2,56,1.79\n",
			"100 against 56 is 1.786, not 1.95"},
		{"efficiency", "a.csv", "workers,speedup,efficiency\n1,1.0,100%\n4,3.0,85%\n",
			"workers,speedup,efficiency\n1,1.0,100%\n4,3.0,75%\n",
			"3.0 / 4 = 75.0 %, not 85%"},
		{"unequal work", "a.md", head + "| 1 | 100.0 | 10.0 | 1 | |\n| 2 | 60.0 | 5.0 | | |\n",
			head + "| 1 | 100.0 | 10.0 | 1 | |\n| 2 | 50.0 | 5.0 | | |\n",
			"100.0 / 10.0 = 10 epochs, 60.0 / 5.0 = 12"},
		{"unlabelled rows", "a.txt", "Name   Total Time  Loss\nrun 10.5  1.2\nrun 50.5  1.3\nrun 11.5 " +
			" 1.3\n",
			"Name   Total Time  Loss\na 10.5  1.2\nb 50.5  1.3\nc 11.5  1.3\n",
			"10.5 and 50.5 have one label"},
		{"percentage", "a.txt", "Accuracy: 1050/10000 (12%)\n", "Accuracy: 1050/10000 (10%)\n",
			"1050 / 10000 = 10.5 %, not 12%"},
		{"rate", "a.txt", "Total batches: 13,000 in 20s (500 batches/s)\n",
			"Total batches: 13,000 in 20s (650 batches/s)\n",
			"13,000 / 20s = 650, not 500 batches/s"},
		{"sum", "a.txt", "Forward Pass: 40s\nBackward Pass: 60s\nData Loading: 10s\nTotal: 90s\n",
			"Forward Pass: 40s\nBackward Pass: 60s\nData Loading: 10s\nTotal: 110s\n",
			"40s + 60s + 10s = 110 s, not 90s"},
		{"cost", "a.md", "GPUs cost $2.00/hour each.\n\n| gpus | total time | cost |\n|---|---|---|\n| 2 " +
			"| 30 min | $3.00 |\n",
			"GPUs cost $2.00/hour each.\n\n| gpus | total time | cost |\n|---|---|---|\n| 2 | 30 min | " +
				"$2.00 |\n",
			"2.00/hour × 2 × 30 min = 2, not 3.00"},
		{"law", "a.md", "## Amdahl's law\n\nParallel fraction: 90%\n\n8 GPUs: 5.9x speedup\n",
			"## Amdahl's law\n\nParallel fraction: 90%\n\n8 GPUs: 4.7x speedup\n",
			"90% at 8 workers gives 4.706, not 5.9x"},
		{"ranks disagree", "a.txt", "Node 0 (Rank 0)\nTime per iteration: 1.10 seconds\nNode 1 (Rank " +
			"1)\nTime per iteration: 1.70 seconds\n",
			"Node 0 (Rank 0)\nTime per iteration: 1.68 seconds\nNode 1 (Rank 1)\nTime per iteration: " +
				"1.70 " +
				"seconds\n",
			"1.70 seconds / 1.10 seconds = 1.545"},
		{"law", "a.md", "## Gustafson\n\nParallel fraction: 90%\n\n8 GPUs: 6.3x speedup\n",
			"## Gustafson\n\nParallel fraction: 90%\n\n8 GPUs: 7.3x speedup\n",
			"90% at 8 workers gives 7.3, not 6.3x"},
		{"projection", "a.csv", "workers,step ms\n1,100\n4 (projected),27\n", "workers,step " +
			"ms\n1,100\n4,27\n",
			"27 is projected, 100 is not"},
		{"above linear", "a.csv", "workers,speedup\n1,1.00\n2,2.31\n", "workers,speedup\n1,1.00\n2,1.91\n",
			"2.31, more than 2"},
		{"cores", "a.csv", "workers,cores,step ms\n8,2,100\n", "workers,cores,step ms\n2,2,100\n",
			"8, more than 2"},
		{"unequal work", "a.csv", "gpus,epochs,epoch s,total s\n2,10,20.0,150\n",
			"gpus,epochs,epoch s,total s\n2,10,20.0,205\n",
			"10 × 20.0 = 200 s, more than 150"},
		{"speed-up", "a.md", "| Metric | One | Two | Improvement |\n|---|---|---|---|\n| Epoch time | " +
			"200s | 120s | 50% |\n",
			"| Metric | One | Two | Improvement |\n|---|---|---|---|\n| Epoch time | 200s | 120s | 40% |\n",
			"200s against 120s is 66.7 % more speed or 40.0 % less time, not 50%"},
		{"above linear", "a.csv", "workers,speedup\n1,1.00\n2,2.02\n", "workers,speedup\n1,1.00\n2,2.00\n",
			"2.02, more than 2"},
		{"stated twice", "a.md", sameTime + "| 1 | 36.4 min | 120.25 |\n",
			sameTime + "| 1 | 40.1 min | 120.25 |\n",
			"36.4 min and 2405.0 s"},
		{"rate", "a.csv", "gpus,batch size,step s,img/s\n1,128,0.500,200\n",
			"gpus,batch size,step s,img/s\n" +
				"1,128,0.500,256\n", "128 / 0.500 = 256, not 200"},
		{"rate", "a.md", "CIFAR-10\n\n| gpus | epoch s | img/s |\n|---|---|---|\n| 1 | 100.0 | 420 |\n",
			"CIFAR-10\n\n| gpus | epoch s | img/s |\n|---|---|---|\n| 1 | 100.0 | 500 |\n",
			"420 × 100.0 = 42000, not 50000"},
		{"unequal work", "a.csv", "nodes,batch size,total s\n2,32,100\n3,21,90\n",
			"nodes,batch size,total s\n2,32,100\n4,16,90\n",
			"63 and 64 samples in a step, of batches of 21 and 32"},
		{"unequal work", "a.md", twoRates + "| Learning rate | 0.1 | 0.2 |\n",
			twoRates + "| Learning rate | 0.1 | 0.1 |\n", "0.1 and 0.2"},
		{"projection", "a.md", projected + "| 4 | 50.0 | 3.36x |\n", projected + "| 4 | 50.0 | 2.92x |\n",
			"1.78x at 2 workers leaves at most 2.959 at 4, not 3.36x"},
		{"loss", "a.md", lossLog + "Average loss: 0.9\n", lossLog + "Average loss: 2.0\n",
			"0.9, and at least 1.8"},
		{"loss", "a.csv", "step,loss\n20,1.50\n40,1.70\n", "step,loss\n20,1.70\n40,1.50\n", "1.50 to 1.70"},
		{"loss", "a.csv", bestLoss + "d,0.54,90.4\n", bestLoss + "d,0.14,90.4\n", "0.54 and 90.4"},
		{"loss", "a.md",
			"40 iterations\n\n| epoch | iteration | loss |\n|---|---|---|\n| 1 | 40/196 | 1.2 |\n",
			"196 iterations\n\n| epoch | iteration | loss |\n|---|---|---|\n| 1 | 196/196 | 1.2 |\n",
			"40 of 196 steps"},
		{"sum", "a.txt", "Profile: 45% for computation and 17% for communication.\n",
			"Profile: 81% for computation and 17% for communication.\n", "45% + 17% = 62.0 %"},
		{"workers", "a.txt", "Network time: 14s per node\n", "Network time: 14s per node of 8 nodes\n",
			"14s"},
		{"loss at chance", "a.txt", "Average loss: 2.31 for images\n", "Average loss: 2.01 for images\n",
			"ln 10 = 2.303, and 2.31"},
		{"loss at chance", "a.md", "CIFAR-10 converges with a loss of 2.33.\n",
			"CIFAR-10 converges with a loss of 1.33.\n", "ln 10 = 2.303, and 2.33"},
	} {
		got := judged(t, c.name, c.wrong)
		i := slices.IndexFunc(got.Objections, func(o check.Objection) bool {
			return o.Rule == c.rule && o.Arithmetic == c.arithmetic
		})
		if i < 0 {
			t.Errorf("%s: %+v, want %q", c.rule, got.Objections, c.arithmetic)
			continue
		}
		if o := got.Objections[i]; len(o.Places) == 0 || o.Places[0].Line == 0 || o.Remedy == "" {
			t.Errorf("%s: places %v, remedy %q", c.rule, o.Places, o.Remedy)
		}
		if found := rulesOf(judged(t, c.name, c.right)); len(found) > 0 {
			t.Errorf("%s: %v object to the right figures", c.rule, found)
		}
	}
}

// The reading share counts every number; what no word explains is listed with its line.
func TestUnreadFiguresAreListed(t *testing.T) {
	r := judged(t, "a.md", "The epoch took 20.5 s.\n\nIt said 17, and 42 was there.\n")
	if r.Figures.All != 3 || r.Figures.Read != 1 || len(r.Unread) != 2 ||
		r.Unread[1] != (check.Unread{Line: 3, Text: "42"}) {
		t.Errorf("%+v, %v", r.Figures, r.Unread)
	}
	if _, err := check.Read(strings.NewReader("no figure at all\n"), "a.md"); err == nil {
		t.Error("a document without a figure is read")
	}
}

// A long line takes linear time, of the processor: other programs may keep it busy.
func TestLongLines(t *testing.T) {
	for _, part := range []string{"and 12 of them took 3.5 s ", "| 1 ", "[", "**1", "1-2", "1/2(", "`",
		"1:", "9", "- 1 ", "Loss: 2.5, "} {
		text := strings.Repeat(part, 1<<17/len(part))
		began := usedSeconds(t)
		if d, err := check.Read(strings.NewReader(text), "a.md"); err == nil {
			check.Check(d)
		}
		if took := usedSeconds(t) - began; took > 5 {
			t.Errorf("%q: %.1f s of the processor", part, took)
		}
	}
}

// usedSeconds returns the time for which the processor has worked for this process.
func usedSeconds(t *testing.T) float64 {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Skip(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}
