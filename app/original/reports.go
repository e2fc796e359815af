package original

import (
	"fmt"
	"math"

	"lockstep/app/analysis"
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
			name := fmt.Sprintf("%s, %d hosts × %d", m.name, at[0], at[1])
			o.quantities = append(o.quantities, quantity{name + ": total", m.total, where, totalTime},
				quantity{name + ": accuracy", m.accuracy, where, accuracy})
		}
	}
	many, one := all(model("resnet50"), layout(2, 1)), all(model("resnet50"), layout(1, 2))
	o.questions = []question{
		{"The slower runs likely correspond to multi-node", isFaster(one, many)},
		{"Some runs are slower because of network communication", isAbove(all(model("resnet50"),
			layout(3, 1)),
			"the share of a step spent waiting for others", share("sync_exposed"), 0.05)},
	}
	return o
}

func r1() original {
	one, two := strategy("single"), all(strategy("ddp"), workers(2))
	return original{title: "One device against two, ResNet-50 on CIFAR-10, batch 128",
		quantities: []quantity{
			{"total, one", "2469.67 s", one, totalTime}, {"total, two", "1224 s (a projection)", two,
				totalTime},
			{"epoch, one", "218.53 s", one, epochTime}, {"epoch, two", "122.4 s (a projection)", two,
				epochTime},
			{"images/s, one", "202.46", one, perSecond}, {"images/s, two", "360 (a projection)", two,
				perSecond},
			{"speed-up of two", "1.78 by epochs, 2.02 by totals", two, speedup},
			{"efficiency of two", "89 %", two, efficiency},
			{"accuracy, one", "62.58 %", one, accuracy}, {"accuracy, two", "62.6 %", two, accuracy},
			{"waiting for gradients, two", "3.3 % of an epoch (4 of 122.4 s)", two, phase("sync_exposed")},
			{"optimizer, one", "17 % of an epoch", one, phase("optimizer")},
		},
		questions: []question{
			{"The distributed run is 1.78x faster", isFaster(two, one)},
			{"The distributed run is 2.02x faster", isAbove(two, "the speed-up",
				func(l *analysis.Line) float64 { return l.Speedup.Interval.Hi }, 2.02)},
		}}
}

func r2() original {
	two := func(name string) selector { return all(strategy("all-reduce"), workers(2), wire(name)) }
	return original{title: "Workers over sockets, 30 seconds each, CIFAR-10",
		quantities: []quantity{
			{"batches/s, deflate", "459 of 8 to 11 nodes", two("deflate"), steps},
			{"batches/s, another layer", "344", two("zstd"), steps},
			{"waiting for the network, deflate", "47 % (14 of 30 s)", two("deflate"), phase("sync_exposed")},
			{"waiting for the network, another layer", "42 % (12.7 of 30 s)", two("zstd"),
				phase("sync_exposed")},
			{"waiting for the network, no compression", "–", two(""), phase("sync_exposed")},
			{"bytes of a run, deflate", "1.67 MB/s of a node; ratio 1.88", two("deflate"), sent},
			{"bytes of a run, another layer", "0.83 MB/s of a node; ratio 2.02", two("zstd"), sent},
			{"bytes of a run, no compression", "–", two(""), sent},
			{"loss", "2.33; guessing is 2.303", two("deflate"), lastLoss},
		},
		questions: []question{
			{"The network is not the bottleneck", isBelow(two("deflate"),
				"the share of a step spent waiting for others", share("sync_exposed"), 0.10)},
			{"Training shows reliable convergence", isBelow(two("deflate"), "the last loss",
				func(l *analysis.Line) float64 { return l.LossLast }, analysis.ChanceLimit*math.Log(10))},
		}}
}

func r3() original {
	one := strategy("single")
	four := func(name string) selector { return all(strategy(name), workers(4)) }
	o := original{title: "VGG-11 on CIFAR-10, four hosts, batch 256, 40 iterations",
		quantities: []quantity{{"one node: s/iteration", "2.504", one, stepTime}}}
	for _, s := range []struct{ name, rank0, others, speedup string }{
		{"gather-scatter", "1.174", "1.745", "1.43"}, {"all-reduce", "0.950", "1.505", "1.66"},
		{"ddp", "0.885", "1.402", "1.79"}} {
		o.quantities = append(o.quantities,
			quantity{s.name + ": s/iteration", s.others + " (ranks 1 to 3), " + s.rank0 + " (rank 0)",
				four(s.name), stepTime},
			quantity{s.name + ": speed-up", s.speedup + " by ranks 1 to 3", four(s.name), speedup},
			quantity{s.name + ": exposed communication", "not measured", four(s.name), phase("sync_exposed")},
			quantity{s.name + ": last loss", "2.7 to 2.9 at 40", four(s.name), lastLoss},
			quantity{s.name + ": accuracy", "10 to 13 %", four(s.name), accuracy})
	}
	o.questions = []question{
		{"DDP overlaps communication with computation", isAbove(four("ddp"),
			"communication that computation hid, seconds of a step,",
			func(l *analysis.Line) float64 { return l.Hidden }, 0)},
		{"Gather and scatter is asymptotically limited", isFaster(four("all-reduce"),
			four("gather-scatter"))},
	}
	return o
}

func r4() original {
	one := func(n int) selector { return all(strategy("single"), batch(n), options("")) }
	two := func(name string) selector { return all(strategy(name), workers(2), options("")) }
	kept := all(strategy("single"), options("checkpoint-every=100"))
	return original{title: "A small network on SVHN, 40 epochs, one to three nodes",
		quantities: []quantity{
			{"one process, batch 64: total", "9238 s", one(64), totalTime},
			{"batch 32: total", "12143 s", one(32), totalTime},
			{"batch 256: total", "7170 s", one(256), totalTime},
			{"with checkpoints: total", "9354 s", kept, totalTime},
			{"two processes on one node: total", "11723 s", two("all-reduce"), totalTime},
			{"two nodes: total", "15170 s", two("ps"), totalTime},
			{"accuracy, batch 64", "–", one(64), accuracy}, {"accuracy, batch 32", "–", one(32), accuracy},
			{"accuracy, batch 256", "lower", one(256), accuracy},
		},
		questions: []question{
			{"Batch 32 trains fastest", isShorter(one(32), one(64), one(256))},
			{"Checkpoints cost 1.2 %", isFaster(one(64), kept)},
			{"All-reduce is preferred", isFaster(two("all-reduce"), two("ps"))},
		}}
}

// isShorter answers whether the runs of the first row, all of them, took less time than those of the others.
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
			switch {
			case b == nil:
				return unmeasured + ": one of the rows has no run"
			case a.Total.Min > b.Total.Max:
				verdict = fails
			case a.Total.Max >= b.Total.Min && verdict == holds:
				verdict = undecided
			}
			text += " against " + seconds(b.Total.Median)
		}
		return verdict + ": " + text
	}
}

// steps shows the steps of a second; sent, the bytes of a run.
func steps(_ *analysis.Group, l *analysis.Line) string {
	return number(1/l.RunMedian.Median) + "/s"
}

func sent(_ *analysis.Group, l *analysis.Line) string {
	if math.IsNaN(l.BytesSent) {
		return "–"
	}
	return fmt.Sprintf("%.3g MB in %.3g s", l.BytesSent/1e6, l.Total.Median)
}
