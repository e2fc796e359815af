package check

import (
	"slices"
	"strings"
	"unicode"
)

// vocabulary returns which words tell which kind, in the singular and without hyphens.
func vocabulary() map[string]Kind {
	out := map[string]Kind{}
	for kind, words := range map[Kind]string{
		Time:      "time duration runtime walltime elapsed latency took seconds wallclock",
		Rate:      "throughput ips",
		Bandwidth: "bandwidth",
		Size:      "memory ram rss vram footprint traffic",
		Speedup:   "speedup",
		Change: "improvement faster slower reduction reduced saving saved difference delta gain " +
			"change increase decrease less shorter longer",
		Efficiency: "efficiency",
		Share:      "share overhead utilization utilisation usage percentage portion",
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
		Serial:       "serial serialfraction",
		Setting: "port seed momentum decay thread id size dim hidden layer head length parameter param " +
			"version date " +
			"gpuminute gpuhour lines kernel stride padding dropout warmup patience bucket level budget " +
			"shape namespace torch python std deviation limit",
		Name: "question part figure table section chapter exercise task step rank assignment lab problem " +
			"experiment run version"} {
		for _, w := range strings.Fields(words) {
			if _, isThere := out[w]; !isThere || kind != Name {
				out[w] = kind
			}
		}
	}
	return out
}

// scopes returns which words tell of what a time is.
func scopes() map[string]Scope {
	return map[string]Scope{"total": Total, "overall": Total, "training": Total, "wall": Total,
		"wallclock": Total,
		"train":     Total, "walltime": Total, "epoch": Epoch, "step": Step, "iteration": Step, "iter": Step,
		"batch":   Step,
		"forward": Part, "backward": Part, "optimizer": Part, "optimiser": Part, "sync": Part,
		"synchronization": Part,
		"loading":         Part, "data": Part, "communication": Part, "comm": Part, "network": Part,
		"allreduce": Part,
		"other":     Part, "overhead": Part, "compute": Part, "computation": Part, "coordination": Part,
		"idle":    Part,
		"startup": Part, "evaluation": Part, "eval": Part, "validation": Part, "inference": Part,
		"saved": Part, "saving": Part}
}

var (
	allWords  = vocabulary()
	allScopes = scopes()
)

// singular returns a word in lower case without the ending of a plural; "batches" are counted, a "batch" has
// a size.
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
	fields := strings.FieldsFunc(strings.ReplaceAll(strings.ReplaceAll(text, "peed-up", "peedup"), "/",
		" per "),
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '%' })
	for _, w := range fields {
		w = singular(w)
		if n := len(out); n > 0 {
			if pair := out[n-1] + w; pairs[pair] {
				out[n-1] = pair
				continue
			}
		}
		out = append(out, w)
	}
	return out
}

var pairs = map[string]bool{"batchsize": true, "minibatch": true, "learningrate": true, "speedup": true,
	"worldsize": true,
	"walltime":  true, "wallclock": true, "crossentropy": true, "allreduce": true, "parallelfraction": true,
	"serialfraction": true, "gpuminute": true, "gpuhour": true, "top1": true, "top5": true}

// ends are the words after which a phrase no longer names its quantity: "time per epoch", "loss after ...".
var ends = map[string]bool{"per": true, "of": true, "for": true, "by": true, "after": true, "in": true,
	"with": true, "on": true,
	"at": true, "over": true, "from": true, "vs": true, "to": true, "and": true}

// meaning returns what the words of a heading or a phrase say: the last kind before a preposition, and the
// scope of a time.
func meaning(words []string) (k Kind, s Scope) {
	for i, w := range words {
		if w == "%" && i+1 < len(words) && words[i+1] == "of" {
			return Share, ""
		}
		if found, ok := allScopes[w]; ok && (s == "" || s == Total || found == Part && s != Epoch &&
			s != Step) {
			s = found
		}
	}
	isOver := false
	for _, w := range words {
		isOver = isOver || ends[w] && k != Unknown
		if found, ok := allWords[w]; ok && !isOver {
			k = found
		}
	}
	if k == Time && slices.Contains(words, "average") && s == Total && slices.Contains(words, "per") {
		s = Step
	}
	return k, s
}

// fits returns what a number with this unit can be, if words say that it is of kind k; Unknown: it cannot.
func fits(unit, k Kind) Kind {
	switch unit {
	case Unknown:
		return k
	case Share:
		if slices.Contains([]Kind{Efficiency, Accuracy, Share, Change, Parallel, Serial}, k) {
			return k
		}
		if k == Speedup {
			return Change
		}
		if k == Loss {
			return Share
		}
	case Ratio:
		switch k {
		case Speedup, Ratio:
			return k
		case Change:
			return Speedup
		}
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
	if f.Kind == Accuracy && f.Unit == "" && f.over == nil && f.Value > 1 && f.Value <= 100 {
		f.Value, f.Half = f.Value/100, f.Half/100
	}
	if f.Kind == Efficiency && f.Unit == "" && f.over == nil && f.Value > 4 && f.Value <= 200 {
		f.Value, f.Half = f.Value/100, f.Half/100
	}
	if f.Kind != Time {
		f.Scope = ""
	}
}

// guesses are the words of figures that nobody measured.
var guesses = []string{"projected", "projection", "predict", "prediction", "predicted", "theoretical",
	"estimate", "estimated",
	"expected", "extrapolated", "simulated", "ideal"}

// isGuessed reports whether a text says that its figures were not measured.
func isGuessed(text string) bool {
	for _, w := range wordsOf(text) {
		if slices.Contains(guesses, w) {
			return true
		}
	}
	return false
}

// mentions reports whether a text has one of the words, in the singular.
func mentions(text string, words ...string) bool {
	for _, w := range wordsOf(text) {
		if slices.Contains(words, w) {
			return true
		}
	}
	return false
}
