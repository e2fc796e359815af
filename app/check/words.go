package check

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

//go:embed words.txt
var wordsFile string

// lines returns the lines of the sections of words.txt: their words by their names.
func lines() map[string]map[string][]string {
	sections := map[string]map[string][]string{}
	var section map[string][]string
	for line := range strings.Lines(wordsFile) {
		name, words, isList := strings.Cut(line, ":")
		switch {
		case strings.HasPrefix(line, "["):
			section = map[string][]string{}
			sections[strings.Trim(line, "[]\n")] = section
		case isList && !strings.HasPrefix(line, "#"):
			section[name] = strings.Fields(words)
		}
	}
	return sections
}

// unit is what a word behind a number does to it.
type unit struct {
	kind  Kind
	times float64
}

var (
	sections  = lines()
	lists     = sections["lists"]
	allWords  = byWord(sections["kinds"], func(name string) Kind { return Kind(name) })
	allScopes = byWord(sections["scopes"], func(name string) Scope { return Scope(name) })
	allUnits  = byWord(sections["units"], func(name string) unit {
		kind, factor, _ := strings.Cut(name, " ")
		times, err := strconv.ParseFloat(factor, 64)
		if err != nil { // most have none
			times = 1
		}
		return unit{Kind(kind), times}
	})
)

// byWord returns what the names of lines mean, by the words of the lines.
func byWord[T any](section map[string][]string, meaning func(name string) T) map[string]T {
	out := map[string]T{}
	for name, words := range section {
		for _, w := range words {
			out[w] = meaning(name)
		}
	}
	return out
}

// singular returns a word in lower case without the ending of a plural; "batches" are counted, a "batch"
// has a size.
func singular(w string) string {
	w = strings.ToLower(w)
	switch {
	case w == "batches" || w == "gbps" || w == "mbps" || len(w) < 4 || strings.HasSuffix(w,
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
		if n := len(out); n > 0 && slices.Contains(lists["pairs"], out[n-1]+w) {
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
	for _, w := range words {
		if found := allScopes[w]; found != "" && (s == "" || s == Total) {
			s = found
		}
		isOver = isOver || k != Unknown && slices.Contains(lists["ends"], w)
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
func isGuessed(text string) bool { return mentions(text, lists["guesses"]...) }

// mentions reports whether a text has one of the words, in the singular.
func mentions(text string, words ...string) bool {
	return slices.ContainsFunc(wordsOf(text), func(w string) bool { return slices.Contains(words, w) })
}
