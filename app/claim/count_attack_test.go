package claim_test

import "testing"

// Tables of an attack on sentences whose numbers of workers stand apart from the names.
var attacked = map[string]string{
	"pairs": `A machine with 4 cores, median of 5 runs.

| strategy | workers | batch | step ms | low | high | speed-up | efficiency |
|---|---|---|---|---|---|---|---|
| single | 1 | 64 | 100 | 99 | 101 | 1.00 | 100 % |
| ddp | 2 | 64 | 55 | 54.5 | 55.5 | 1.82 | 91 % |
| ddp | 4 | 64 | 30 | 29.5 | 30.5 | 3.33 | 83 % |
| gather | 2 | 64 | 80 | 79 | 81 | 1.25 | 62.5 % |
| gather | 4 | 64 | 61 | 60.5 | 61.5 | 1.64 | 41 % |
`,
	"names": `Median of 5 runs.

| strategy | workers | batch | step ms | communication ms | accuracy |
|---|---|---|---|---|---|
| single | 1 | 64 | 100 | 0 | 0.9 |
| ps | 1 | 64 | 120 | 0 | 0.9 |
| ddp | 4 | 64 | 30 | 5 | 0.89 |
| ring | 4 | 64 | 29 | 5 | 0.89 |
| Young's ring | 4 | 64 | 50 | 5 | 0.89 |
| hvd's | 4 | 64 | 200 | 5 | 0.89 |
`,
	"halving": `Median of 5 runs.

| strategy | workers | batch | step ms | low | high |
|---|---|---|---|---|---|
| single | 1 | 64 | 100 | 99 | 101 |
| ddp | 2 | 64 | 62.5 | 62 | 63 |
| ddp | 4 | 64 | 31.25 | 31 | 31.5 |
`,
	"rates": `Mean of 5 runs.

| strategy | workers | samples/s |
|---|---|---|
| single | 1 | 640 ± 5 |
| ddp | 2 | 1164 ± 10 |
| ddp | 4 | 2133 ± 10 |
| ring | 4 | 2100 ± 10 |
| slow | 2 | 400 ± 10 |
`,
	"weak": `Weak scaling, median of 5 runs.

| strategy | workers | batch | step ms | low | high |
|---|---|---|---|---|---|
| single | 1 | 64 | 100 | 99 | 101 |
| ddp | 2 | 128 | 100 | 99 | 101 |
| ddp | 4 | 256 | 110 | 109 | 111 |
`,
	"nodes": `Median of 5 runs.

| strategy | nodes | workers | batch | step ms |
|---|---|---|---|---|
| single | 1 | 1 | 64 | 100 |
| ddp | 2 | 4 | 64 | 30 |
| ddp | 4 | 8 | 64 | 20 |
| ddp | 1 | 2 | 64 | 55 |
| single | 1 | 1 | 128 | 190 |
| ring | 1 | 4 | 64 | 33 |
`,
	"parts": `# Results

## lenet

| strategy | workers | batch | step ms | low | high |
|---|---|---|---|---|---|
| single | 1 | 64 | 100 | 99 | 101 |
| ddp | 2 | 64 | 55 | 54 | 56 |

## vgg

| strategy | workers | batch | step ms | low | high |
|---|---|---|---|---|---|
| single | 1 | 64 | 1000 | 990 | 1010 |
| ddp | 4 | 64 | 250 | 249 | 251 |

# Discussion
`,
}

// Sentences that an attack found to hold though they are false, to be refused though they are true, or not to
// be understood any more.
func TestCountsUnderAttack(t *testing.T) {
	for _, c := range []struct{ table, text, want string }{
		{"pairs", "The speedup of ddp falls from 1.82x on 2 workers to 3.33x on 4 workers.", "refused"},
		{"pairs", "The speedup of ddp rises from 1.82x on 2 workers to 3.33x on 4 workers.", "holds"},
		{"pairs", "The efficiency of ddp rises from 91% with 2 workers to 83% with 4 workers.", "refused"},
		{"halving",
			"The step time of ddp drops from 31.25 ms on 4 workers to 62.5 ms on 2 workers.",
			"refused"},
		{"halving",
			"The step time of ddp drops from 62.5 ms on 2 workers to 31.25 ms on 4 workers.",
			"holds"},
		{"rates",
			"The throughput of ddp falls from 1164 samples/s on 2 workers to 2133 samples/s on 4 workers.",
			"refused"},
		{"pairs", "Throughput falls from 640 to 2133 samples/s with ddp on 4 workers.", "refused"},
		{"pairs", "The throughput rises from 2133 to 1049 samples/s with gather on 4 workers.", "refused"},
		{"pairs", "DDP improves the throughput from 2133 to 1164 samples/s on 2 workers.", "refused"},
		{"rates", "Throughput rises from 640 to 400 samples/s with slow.", "refused"},
		{"rates", "slow improves the throughput from 640 to 400 samples/s.", "refused"},
		{"pairs", "gather cuts the step from 30 ms to 61 ms on 4 workers.", "refused"},
		{"parts",
			"The step time of ddp falls from 55 ms on 2 workers to 250 ms on 4 workers.",
			"not checked"},
		{"parts", "The speedup of ddp rises from 1.82x on 2 workers to 4x on 4 workers.", "not checked"},
		{"nodes", "The step time of ddp falls from 55 ms on 2 workers to 30 ms on 4 nodes.", "refused"},
		{"nodes", "The step time of ddp falls from 30 ms on 4 workers to 20 ms on 4 nodes.", "holds"},
		{"nodes", "The step time of ddp falls from 55 ms on 2 workers to 30 ms on 2 nodes.", "holds"},
		{"weak", "ddp with 2 workers cuts the step time in half.", "not checked"},
		{"weak", "ddp with 4 workers more than halves the step time.", "not checked"},
		{"halving", "DDP gives a 1.6x speedup over 2 workers.", "not checked"},
		{"halving", "DDP reaches a speedup of 2x over 2 workers.", "not checked"},
		{"halving", "DDP saves 37.5 ms per step over 2 workers.", "not checked"},
		{"names", "ddp is 4x as fast as ps with 4 workers.", "not checked"},
		{"pairs", "ddp is the fastest strategy on 2 workers.", "holds"},
		{"pairs", "Gather has the highest throughput on 2 workers.", "refused"},
		{"weak", "ddp and single are equally fast on 2 workers.", "not checked"},
		{"names", "ddp lifts throughput from about 600 to about 2100 samples/s.", "holds"},
		{"pairs", "DDP roughly doubles the throughput of single with 2 workers.", "holds"},
		{"names", "Young's ring takes 50 ms per step.", "holds"},
		{"names", "hvd's reduces the step time from 100 ms to 200 ms.", "refused"},
		{"names", "ddp more than quadruples the throughput of ps.", "refused"},
		{"pairs", "DDP's step time is 30 ms on 4 workers.", "holds"},
		{"names", "ddp's scaling efficiency is 83%.", "holds"},
		{"names", "ddp cuts the step in half.", "refused"},
		{"pairs", "DDP achieves a speedup of 3.33x with 4 workers.", "holds"},
	} {
		r := check(t, "report.md", attacked[c.table]+"\n"+c.text+"\n")
		last := r.Statements[len(r.Statements)-1]
		if last.Text != c.text || string(last.Verdict) != c.want {
			t.Errorf("%s: want %s\n%s", c.text, c.want, render(r))
		}
	}
}
