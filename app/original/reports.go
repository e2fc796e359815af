package original

import (
	"fmt"
	"math"
	"strings"

	"lockstep/app/evidence/compare"
	"lockstep/app/evidence/stat"
	"lockstep/app/record"
	"lockstep/internal/spelling"
)

// reports returns what is known about each original, by its recipe.
func reports() map[string]original {
	return map[string]original{"r0": r0(), "r1": r1(), "r2": r2(), "r3": r3(), "r4": r4()}
}

// r0: its rows have no labels, so no figure of its tables can be put beside a row.
func r0() original {
	o := original{title: "Hosts times processes, ResNet-50 and BERT, three virtual machines"}
	for _, m := range []struct{ name, total, accuracy string }{
		{"resnet50", "329 to 3284 s, rows without labels", "5.1 to 60.6 %"},
		{"bert-tiny", "134 to 570 s, rows without labels", "84.4 to 90.4 %"}} {
		for _, at := range [][2]int{{1, 1}, {1, 2}, {2, 1}, {2, 2}, {3, 1}, {3, 2}} {
			where := all(model(m.name), layout(at[0], at[1]))
			name := fmt.Sprintf("%s, %s × %d", m.name, spelling.Count(at[0], "host"), at[1])
			o.quantities = append(o.quantities, quantity{name + ": total", m.total, where, totalTime},
				quantity{name + ": accuracy", m.accuracy, where, accuracy})
		}
	}
	many, one := all(model("resnet50"), layout(2, 1)), all(model("resnet50"), layout(1, 2))
	o.questions = []question{
		{"ResNet-50 on two hosts is slower than on one", isFaster(one, many)},
		{"it is slower because workers wait for the exchange", isSlowedByExchange(many, one,
			0.05)},
	}
	return o
}

func r1() original {
	one, two := strategy("single"), all(strategy("ddp"), workers(2))
	o := original{title: "One device against two, ResNet-50 on CIFAR-10, batch 128",
		quantities: []quantity{
			{"total, one", "2469.67 s", one, totalTime}, {"total, two", "1224 s (a projection)", two,
				totalTime},
			{"epoch, one", "218.53 s", one, epochTime}, {"epoch, two", "122.4 s (a projection)", two,
				epochTime},
			{"images/s, one", "202.46", one, perSecond}, {"images/s, two", "360 (a projection)", two,
				perSecond},
			{"speed-up of two", "1.78 by epochs, 2.02 by totals", two, speedup},
			{"efficiency of two", "89 %", two, efficiency},
			{"serial fraction", "5 % (assumed); 1.78 at 2 means 12.4 %", two, serialFraction},
			{"accuracy, one", "62.58 %", one, accuracy}, {"accuracy, two", "62.6 %", two, accuracy},
		}}
	for _, p := range []struct{ name, one, two string }{{"forward", "37 %", "33 %"},
		{"backward", "43 %", "39 %"}, {"sync_exposed", "–", "3.3 %"}, {"optimizer", "17 %", "20 %"},
		{"data", "2.3 %", "4.1 %"}} {
		what := strings.ReplaceAll(p.name, "sync_exposed", "waiting for gradients")
		o.quantities = append(o.quantities,
			quantity{what + ", one", p.one + " of an epoch", one, phase(p.name)},
			quantity{what + ", two", p.two + " of an epoch (a projection)", two, phase(p.name)})
	}
	o.quantities = append(o.quantities,
		quantity{"memory of a device, one", "8 GB", one, memory},
		quantity{"memory of a device, two", "5 GB (a projection)", two, memory})
	o.questions = []question{
		{"two workers are 1.78 times as fast as one", isTimes(two, one, 1.78)},
		{"two workers are 2.02 times as fast as one", isTimes(two, one, 2.02)},
	}
	return o
}

func r2() original {
	two := func(name string) selector { return all(strategy("all-reduce"), workers(2), wire(name)) }
	o := original{title: "Workers over sockets, 30 seconds each, CIFAR-10",
		quantities: []quantity{
			{"loss", "2.33 on average; guessing is 2.303", two("deflate"), meanLoss},
			{"last loss", "–", two("deflate"), lastLoss},
		}}
	for _, w := range []struct{ wire, name, batches, waiting, rate, ratio, memory string }{
		{"deflate", "deflate", "459 of 8 to 11 nodes", "47 % (14 of 30 s)", "1.67 MB/s", "1.88", "755 MB"},
		{"zstd", "another layer", "344", "42 % (12.7 of 30 s)", "0.83 MB/s", "2.02", "805 MB"},
		{"", "no compression", "–", "–", "–", "1", "–"},
		{"int8", "int8, lossy", "–", "–", "–", "–", "–"}} {
		is := two(w.wire)
		o.quantities = append(o.quantities, quantity{"batches/s, " + w.name, w.batches, is, steps},
			quantity{"waiting for the exchange, " + w.name, w.waiting, is, phase("sync_exposed")},
			quantity{"network of a node, " + w.name, w.rate, is, sent},
			quantity{"compression ratio, " + w.name, w.ratio, is, compression},
			quantity{"memory of a node, " + w.name, w.memory, is, memory})
	}
	o.questions = []question{
		{"two workers wait little for the exchange", isNetwork(two("deflate"), two(""), 0.10)},
		{"the loss falls below that of guessing", converges(two("deflate"), 10)},
	}
	return o
}

func r3() original {
	one := strategy("single")
	four := func(name string) selector { return all(strategy(name), workers(4)) }
	o := original{title: "VGG-11 on CIFAR-10, four hosts, batch 256, 40 iterations",
		quantities: []quantity{{"one node: s/iteration", "2.504", one, stepTime}}}
	for _, s := range []struct{ name, rank0, others, speedup, share string }{
		{"gather-scatter", "1.174", "1.745", "1.43", "not measured"},
		{"all-reduce", "0.950", "1.505", "1.66", "17 %, exposed or not"},
		{"ddp", "0.885", "1.402", "1.79", "17 %, exposed or not"}} {
		o.quantities = append(o.quantities,
			quantity{s.name + ": s/iteration", s.others + " (ranks 1 to 3), " + s.rank0 + " (rank 0)",
				four(s.name), stepTime},
			quantity{s.name + ": speed-up", s.speedup + " by ranks 1 to 3", four(s.name), speedup},
			quantity{s.name + ": exposed communication", s.share, four(s.name), phase("sync_exposed")},
			quantity{s.name + ": hidden communication", "not measured", four(s.name), hidden},
			quantity{s.name + ": last loss", "2.7 to 3.8, after 20 and 40 steps", four(s.name), lastLoss},
			quantity{s.name + ": accuracy", "10 to 13 %", four(s.name), accuracy})
	}
	o.questions = []question{
		{"ddp hides communication behind computation", isAbove(four("ddp"),
			"communication that computation hid, seconds of a step,",
			(*compare.Line).HiddenSeconds, 0)},
		{"rank 0 limits gather and scatter", limits(four("gather-scatter"),
			four("all-reduce"))},
	}
	return o
}

func r4() original {
	one := func(n int) selector { return all(strategy("single"), batch(n), options("")) }
	two := func(name string) selector { return all(strategy(name), workers(2), options("")) }
	kept := all(strategy("single"), options("checkpoint-every=100"))
	onOne := func(s record.Setting) bool { return s.Hosts <= 1 }
	local := func(name string) selector { return all(two(name), onOne) }
	apart := func(name string) selector { return all(layout(2, 1), two(name)) }
	three := all(layout(3, 1), strategy("all-reduce"))
	const code = "one worker has nobody to exchange with, so there is no row of distributed code on one"
	return original{title: "A small network on SVHN, 40 epochs, one to three nodes",
		quantities: []quantity{
			{"one process, batch 64: total", "9238 s", one(64), totalTime},
			{"batch 32: total", "12143 s", one(32), totalTime},
			{"batch 256: total", "7170 s", one(256), totalTime},
			{"with checkpoints: total", "9354 s", kept, totalTime},
			{"training stopped for checkpoints", "–", kept, checkpoints},
			{"distributed code on one node: total", "10694 s", selectNone, totalTime},
			{"two processes on one node: total", "11723 s", local("all-reduce"), totalTime},
			{"two nodes × 32: total", "15170 s", apart("all-reduce"), totalTime},
			{"three nodes × 21: total", "16879 s", three, totalTime},
			{"two processes on one node, with a server", "–", local("ps"), totalTime},
			{"two nodes, with a server", "–", apart("ps"), totalTime},
			{"two processes on one node: speed-up", "0.79 over one process", local("all-reduce"), speedup},
			{"two nodes × 32: speed-up", "0.61 over one process", apart("all-reduce"), speedup},
			{"three nodes × 21: speed-up", "0.55, and 63 are not 64", three, speedup},
			{"accuracy, batch 64", "–", one(64), accuracy},
			{"accuracy, batch 32", "–", one(32), accuracy},
			{"accuracy, batch 256", "lower", one(256), accuracy},
			{"time to an accuracy of 0.9, three nodes", "85.9 s, batch 16 on each", three, timeTo(0.9)},
		},
		questions: []question{
			{"batch 32 takes less time than 64 and 256", isShorter(one(32), one(64), one(256))},
			{"checkpoints cost 1.2 %", isTimes(one(64), kept, 1.012)},
			{"two nodes are slower because workers wait", isSlowedByExchange(apart("all-reduce"),
				local("all-reduce"), 0.05)},
			{"all-reduce is faster than a parameter server", isFaster(two("all-reduce"), two("ps"))},
			{"two nodes are 0.70 times as fast as such code on one", noRow(code)},
			{"three nodes are 0.63 times as fast", noRow(code)},
			{"a slow worker slows three nodes", noRow("r4-strategies has rows with a slower worker")},
			{"the slowest node limits all", noRow("r4-strategies has rows with a slower worker")},
		}}
}

// noRow says why no row of a recipe answers a sentence.
func noRow(why string) func(*results) string {
	return func(*results) string { return unmeasured + ": " + why }
}

// selectNone is the selector of what no row of a recipe has.
func selectNone(record.Setting) bool { return false }

// isShorter answers whether the runs of the first row took less time than those of the others, if all trained
// on as many samples. Runs of different batches are of different groups, which have no pairs: all of one row
// must be below all of the other, and so many that this is no chance.
func isShorter(first selector, others ...selector) func(*results) string {
	return func(r *results) string {
		_, a := r.find(first)
		if a == nil {
			return unmeasured + ": the row has no run"
		}
		text := "totals " + seconds(a.Total.Median)
		verdict := holds
		for _, is := range others {
			_, b := r.find(is)
			if b == nil {
				return unmeasured + ": one of the rows has no run"
			}
			if x, y := lastOf(a.LossSamples), lastOf(b.LossSamples); x != y {
				return fmt.Sprintf("%s: the rows trained on %.6g and %.6g samples", unmeasured, x, y)
			}
			text += " against " + seconds(b.Total.Median)
			isTold := !a.Disturbed && !b.Disturbed &&
				chanceOfOrder(a.Total.N, b.Total.N) < stat.Significance
			switch {
			case isTold && a.Total.Min > b.Total.Max:
				verdict = fails
			case (!isTold || a.Total.Max >= b.Total.Min) && verdict == holds:
				verdict = undecided
			}
		}
		return fmt.Sprintf("%s: %s, medians of %s", verdict, text, spelling.Count(a.Total.N, "run"))
	}
}

// chanceOfOrder returns the probability that all of n values lie on one side of all of m others, if they do
// not differ: 2 n! m! / (n+m)!, the least level of the test of Mann and Whitney.
func chanceOfOrder(n, m int) float64 {
	p := 2.0
	for i := 1; i <= n; i++ {
		p *= float64(i) / float64(m+i)
	}
	return p
}

// lastOf returns the last of x; 0 without any.
func lastOf(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	return x[len(x)-1]
}

// tailLoss is the mean of the last tenth of the losses: that of one step is noise.
func tailLoss(l *compare.Line) float64 {
	return stat.Mean(l.Loss[len(l.Loss)-(len(l.Loss)+9)/10:])
}

func meanLoss(_ *compare.Group, l *compare.Line) string {
	return fmt.Sprintf("%s on average, %s of the last tenth", number(stat.Mean(l.Loss)),
		number(tailLoss(l)))
}

// steps shows the steps of a second; sent, the bytes of a worker's second.
func steps(_ *compare.Group, l *compare.Line) string {
	return fmt.Sprintf("%s/s of all %s", number(1/l.Step.Median), spelling.Count(l.Setting.Workers, "worker"))
}

func sent(_ *compare.Group, l *compare.Line) string {
	rate := l.BytesSent / float64(l.Setting.Workers) / l.Total.Median
	if math.IsNaN(rate) {
		return "–"
	}
	return fmt.Sprintf("%.3g MB/s", rate/1e6)
}

// compression shows how many times fewer bytes were sent than without compression.
func compression(_ *compare.Group, l *compare.Line) string {
	return plain("%.2f", l.BytesVectors/l.BytesSent)
}

// memory shows the most memory of a worker in the first run.
func memory(_ *compare.Group, l *compare.Line) string {
	most := math.NaN()
	for _, rank := range l.Usage {
		for _, v := range rank.Memory {
			if !(v <= most) {
				most = v
			}
		}
	}
	return plain("%.0f MB", most/1e6)
}

// hidden shows the communication that computation hid.
func hidden(_ *compare.Group, l *compare.Line) string { return plain("%.3g s of a step", l.Hidden) }

// serialFraction shows what the speed-up is as a share of the work that more cores do not shorten.
func serialFraction(g *compare.Group, l *compare.Line) string {
	if !l.Efficiency.Known() || g.Baseline == nil {
		return "–"
	}
	return plain("%.1f %%", 100*stat.KarpFlatt(l.Speedup.Median,
		float64(l.Cores)/float64(g.Baseline.Cores)))
}

// checkpoints shows what the checkpoints of the first run took.
func checkpoints(_ *compare.Group, l *compare.Line) string {
	if l.Checkpoints == nil {
		return "–"
	}
	return fmt.Sprintf("%.3g s for %s, of %s", l.Checkpoints.ExposedSeconds,
		spelling.Count(l.Checkpoints.Count, "checkpoint"), seconds(l.Total.Median))
}

// timeTo shows the training time of the first evaluation with an accuracy, mean over seeds.
func timeTo(wanted float64) func(*compare.Group, *compare.Line) string {
	return func(_ *compare.Group, l *compare.Line) string {
		best := math.NaN()
		for _, e := range l.Accuracy.Curve {
			if e.Mean >= wanted {
				return fmt.Sprintf("%.3g s, %.0f samples", e.Seconds, e.Samples)
			}
			if !(e.Mean <= best) {
				best = e.Mean
			}
		}
		if math.IsNaN(best) {
			return "–"
		}
		return fmt.Sprintf("not reached; at most %.1f %%", 100*best)
	}
}

// plain writes a value; a dash if it is not known.
func plain(format string, v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "–"
	}
	return fmt.Sprintf(format, v)
}
