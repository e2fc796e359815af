package check

import (
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"
)

// byWord turns lists of words around.
func byWord[K any, V comparable](lists map[V]string, value func(V) K) map[string]K {
	out := map[string]K{}
	for v, words := range lists {
		for _, w := range strings.Fields(words) {
			out[w] = value(v)
		}
	}
	return out
}

// allWords tells which words say which kind, in the singular and without hyphens.
var allWords = byWord(map[Kind]string{
	Time:      "time duration runtime walltime elapsed latency took seconds wallclock",
	Rate:      "throughput ips",
	Bandwidth: "bandwidth",
	Size:      "memory ram rss vram footprint traffic",
	Speedup:   "speedup",
	Change: "improvement faster slower reduction reduced saving saved difference delta gain change " +
		"increase " +
		"decrease less shorter longer",
	Efficiency: "efficiency",
	Share:      "share overhead utilization utilisation usage percentage portion util",
	Accuracy:   "accuracy acc precision top1 top5 f1 recall",
	Loss:       "loss perplexity ppl crossentropy error",
	Cost:       "cost",
	Price:      "price",
	Workers: "worker gpu node process proc rank machine device host replica server vm worldsize " +
		"nproc nnode np accelerator tpu npu",
	Batch:        "batchsize bs minibatch batch",
	LearningRate: "lr learningrate",
	Epochs:       "epoch",
	Steps:        "step iteration iter",
	Count:        "batches image img sample token example sequence record item text",
	Classes:      "class",
	Ratio:        "ratio factor multiplier compression",
	Repeats:      "repeat trial repetition",
	Cores:        "core cpu vcpu",
	Parallel:     "parallelizable parallelfraction parallelisable",
	Serial:       "serialfraction",
	Setting: "port seed momentum decay thread id size dim hidden layer head length parameter param " +
		"version date " +
		"gpuminute gpuhour lines kernel stride padding dropout warmup patience bucket level budget shape " +
		"namespace torch python std deviation limit",
	Name: "question part figure table section chapter exercise task assignment lab problem experiment run",
}, func(k Kind) Kind { return k })

// allScopes tells which words say of what a time is.
var allScopes = byWord(map[Scope]string{
	Total: "total overall training wall wallclock train walltime",
	Epoch: "epoch",
	Step:  "step iteration iter batch",
	Part: "forward backward optimizer optimiser sync synchronization loading data communication comm " +
		"network allreduce " +
		"other overhead compute computation coordination idle startup evaluation eval validation " +
		"inference saved saving",
}, func(s Scope) Scope { return s })

// unit is what a word behind a number does to it.
type unit struct {
	kind  Kind
	times float64
}

// units returns the units, in lower case and the singular.
func units() map[string]unit {
	u := map[string]unit{"%": {Share, 0.01}, "percent": {Share, 0.01}, "×": {Ratio, 1}, "x": {Ratio, 1},
		"$": {Cost, 1}, "€": {Cost, 1}, "usd": {Cost, 1}, "dollar": {Cost, 1}, "pp": {Change, 0.01},
		"gbps": {Bandwidth, 1e9 / 8}, "mbps": {Bandwidth, 1e6 / 8}, "gbit": {Size, 1e9 / 8}}
	maps.Copy(u, byWord(map[Kind]string{Epochs: "epoch", Steps: "step iteration iter it",
		Cores:   "core cpu vcpu",
		Classes: "class", Repeats: "repeat trial seed run round repetition",
		Count:   "batches image img sample token tok example sequence seq record item",
		Workers: "worker gpu node process proc rank machine device host replica server vm tpu",
		Setting: "line thread layer bit watt kwh wh ghz mhz parameter param flops gflops tflops"},
		func(k Kind) unit { return unit{k, 1} }))
	for word, s := range map[string]float64{"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3,
		"msec":        1e-3,
		"millisecond": 1e-3, "s": 1, "sec": 1, "second": 1, "m": 60, "min": 60, "minute": 60, "h": 3600,
		"hr":   3600,
		"hour": 3600, "day": 86400, "d": 86400} {
		u[word] = unit{Time, s}
	}
	for i, c := range []string{"", "k", "m", "g", "t"} {
		u[c+"b"] = unit{Size, math.Pow(1000, float64(i))}
		u[c+"ib"] = unit{Size, math.Pow(1024, float64(i))}
		u[c+"byte"] = u[c+"b"]
	}
	delete(u, "b")
	return u
}

var (
	allUnits = units()
	// pairs are two words that mean one thing.
	pairs = strings.Fields("batchsize minibatch learningrate speedup worldsize walltime wallclock " +
		"crossentropy " +
		"allreduce parallelfraction serialfraction gpuminute gpuhour top1 top5")
	// ends are the words after which a phrase no longer names its quantity: "time per epoch", "loss after
	// ...".
	ends = strings.Fields("per of for by after in with on at over from vs to and")
	// guesses are the words of figures that nobody measured.
	guesses = strings.Fields("projected projection predict prediction predicted theoretical estimate " +
		"estimated " +
		"expected extrapolated simulated ideal")
)

// singular returns a word in lower case without the ending of a plural; "batches" are counted, a "batch"
// has a size.
func singular(w string) string {
	w = strings.ToLower(w)
	switch {
	case w == "batches" || w == "gbps" || w == "mbps" || len(w) < 4 && w != "its" || strings.HasSuffix(w,
		"ss"):
		return w
	case strings.HasSuffix(w, "sses") || strings.HasSuffix(w, "ches"):
		return strings.TrimSuffix(w, "es")
	}
	return strings.TrimSuffix(w, "s")
}

// wordsOf returns the words of a text in the singular; "speed-up" and "batch size" are one word each.
func wordsOf(text string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(strings.ReplaceAll(text, "/", " per "), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '%'
	}) {
		w = singular(w)
		if n := len(out); n > 0 && slices.Contains(pairs, out[n-1]+w) {
			out[n-1] += w
			continue
		}
		out = append(out, w)
	}
	return out
}

// meaning returns what the words of a heading or a phrase say: the last kind before a preposition, and the
// scope of a time.
func meaning(words []string) (k Kind, s Scope) {
	isOver := false
	for i, w := range words {
		if w == "%" && i+1 < len(words) && words[i+1] == "of" {
			return Share, ""
		}
		if found := allScopes[w]; found != "" && (s == "" || s == Total || found == Part && s != Epoch &&
			s != Step) {
			s = found
		}
		isOver = isOver || slices.Contains(ends, w) && k != Unknown
		if found, ok := allWords[w]; ok && !isOver {
			k = found
		}
	}
	return k, s
}

// fits returns what a number with this unit can be, if words say that it is of kind k; Unknown: it cannot.
func fits(unit, k Kind) Kind {
	isPart := slices.Contains([]Kind{Efficiency, Accuracy, Share, Change, Parallel, Serial}, k)
	switch {
	case unit == Unknown, unit == Share && isPart, unit == Ratio && (k == Speedup || k == Ratio):
		return k
	case unit == Share && k == Speedup:
		return Change
	case unit == Share && k == Loss:
		return Share
	case unit == Ratio && k == Change:
		return Speedup
	}
	return Unknown
}

// settle decides the kind of a figure from its own unit and from what stands around it, nearest first.
func (f *Figure) settle(contexts ...string) {
	unit := f.Kind
	isOpen := unit == Unknown || unit == Share || unit == Ratio
	for _, text := range contexts {
		k, s := meaning(wordsOf(text))
		if got := fits(unit, k); isOpen && got != Unknown {
			f.Kind, isOpen = got, false
		}
		if f.Scope == "" {
			f.Scope = s
		}
	}
	if f.Kind == Share && f.isSigned {
		f.Kind = Change
	}
	isPercent := f.Kind == Accuracy && f.Value > 1 && f.Value <= 100 || f.Kind == Efficiency &&
		f.Value > 4 && f.Value <= 200
	if isPercent && f.Unit == "" && f.over == nil {
		f.Value, f.Half = f.Value/100, f.Half/100
	}
	if f.Kind != Time {
		f.Scope = ""
	}
}

// isGuessed reports whether a text says that its figures were not measured.
func isGuessed(text string) bool { return mentions(text, guesses...) }

// mentions reports whether a text has one of the words, in the singular.
func mentions(text string, words ...string) bool {
	return slices.ContainsFunc(wordsOf(text), func(w string) bool { return slices.Contains(words, w) })
}
