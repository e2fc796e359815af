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

// wordLists returns the sections of words.txt: each maps its words to the name of their line.
func wordLists() map[string]map[string]string {
	sections := map[string]map[string]string{}
	section := ""
	for line := range strings.Lines(wordsFile) {
		line = strings.TrimSpace(line)
		name, words, isList := strings.Cut(line, ":")
		switch {
		case strings.HasPrefix(line, "["):
			section = strings.Trim(line, "[]")
			sections[section] = map[string]string{}
		case isList && !strings.HasPrefix(line, "#"):
			for _, w := range strings.Fields(words) {
				if section == "lists" { // a word may be in several
					w = name + " " + w
				}
				sections[section][w] = name
			}
		}
	}
	return sections
}

var (
	lists    = wordLists()
	allWords = named[Kind](lists["kinds"])
	// allScopes tells which words say of what a time is.
	allScopes = named[Scope](lists["scopes"])
	allUnits  = units()
)

// named gives the names of lines a type.
func named[K ~string](words map[string]string) map[string]K {
	out := map[string]K{}
	for word, name := range words {
		out[word] = K(name)
	}
	return out
}

// isIn reports whether a word is in a list of words.txt.
func isIn(list, word string) bool { return lists["lists"][list+" "+word] != "" }

// unit is what a word behind a number does to it.
type unit struct {
	kind  Kind
	times float64
}

// units returns the units, in lower case and the singular.
func units() map[string]unit {
	u := map[string]unit{"%": {Share, 0.01}, "percent": {Share, 0.01}, "pp": {Change, 0.01},
		"gbps": {Bandwidth, 1e9 / 8}, "mbps": {Bandwidth, 1e6 / 8}, "gbit": {Size, 1e9 / 8}}
	for word, kind := range lists["units"] {
		u[word] = unit{Kind(kind), 1}
	}
	for kind, section := range map[Kind]string{Time: "seconds", Size: "bytes"} {
		for word, times := range lists[section] {
			v, _ := strconv.ParseFloat(times, 64)
			u[word] = unit{kind, v}
		}
	}
	return u
}

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
		if n := len(out); n > 0 && isIn("pairs", out[n-1]+w) {
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
		isOver = isOver || isIn("ends", w) && k != Unknown
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
func isGuessed(text string) bool { return mentionsOf(text, "guesses") }

// mentionsOf reports whether a text has a word of a list of words.txt.
func mentionsOf(text, list string) bool {
	return slices.ContainsFunc(wordsOf(text), func(w string) bool { return isIn(list, w) })
}

// mentions reports whether a text has one of the words, in the singular.
func mentions(text string, words ...string) bool {
	return slices.ContainsFunc(wordsOf(text), func(w string) bool { return slices.Contains(words, w) })
}
