package report

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/app/evidence/compare"
	"lockstep/app/evidence/finding"
	"lockstep/app/evidence/stat"
	"lockstep/app/record"
	"lockstep/internal/spelling"
)

// note is a finding in words.
type note struct {
	Kind  finding.Severity
	Topic string
	Text  string
	Brief string // its first sentence with a few rows, for the first screen
}

// Word says a finding in a sentence or two.
func Word(f finding.Finding) string { return word(f, len(f.Rows)) }

// Remedy says what would settle a finding; "" if nothing would.
func Remedy(f finding.Finding) string {
	for _, r := range remedies() {
		if slices.Contains(r.rules, f.Rule) {
			return r.text
		}
	}
	return ""
}

// worded says findings in words.
func worded(all []finding.Finding) (out []note) {
	const few = 1 // row that fits into a line of the first screen
	for _, f := range all {
		out = append(out, note{f.Severity, f.Rule, Word(f), opening(word(f, few))})
	}
	return out
}

// noteOf is a note of a run, which its first sentence stands for.
func noteOf(kind finding.Severity, topic, text string) note {
	return note{kind, topic, text, opening(text)}
}

// opening returns the first sentence of a text, cut where it is too long for the first screen.
func opening(text string) string {
	const longest = 260
	first, _, isMore := strings.Cut(text, ". ")
	if isMore {
		first += "."
	}
	runes := []rune(first)
	if len(runes) <= longest {
		return first
	}
	cut := string(runes[:longest])
	return strings.TrimRight(cut[:max(strings.LastIndex(cut, " "), 1)], " ,") + " …"
}

// word says a finding, with so many of its rows at most.
func word(f finding.Finding, rows int) string {
	return fill(sentenceOf(f.Rule)(f.Values), f, rows)
}

// fill puts the rows and the values of a finding into a sentence, where their names stand in braces.
func fill(sentence string, f finding.Finding, rows int) string {
	var out strings.Builder
	for {
		before, rest, isOpen := strings.Cut(sentence, "{")
		name, after, isClosed := strings.Cut(rest, "}")
		out.WriteString(before)
		if !isOpen || !isClosed {
			return out.String()
		}
		if name == "rows" {
			out.WriteString(rowsText(f, rows))
		} else {
			out.WriteString(valueText(f.Values[name]))
		}
		sentence = after
	}
}

// rowsText names the rows of a finding, or says how many they are if they are more than so many.
func rowsText(f finding.Finding, most int) string {
	if f.IsAll {
		return "every row"
	}
	if len(f.Rows) > most {
		return spelling.Count(len(f.Rows), "row")
	}
	return strings.Join(f.Rows, ", ")
}

// valueText writes a value of a finding.
func valueText(v any) string {
	switch v := v.(type) {
	case finding.Share:
		return shareText(float64(v))
	case float64:
		return fmt.Sprintf("%.3g", v)
	case stat.Ratio:
		return times(v)
	case []compare.Difference:
		return differencesText(v)
	case *record.Taken:
		return takenText(v)
	}
	return fmt.Sprint(v)
}

// shareText writes a share in percent, with one decimal below 10; what is there is never "0.0 %".
func shareText(v float64) string {
	if v > -0.0995 && v < 0.0995 {
		return percent(v)
	}
	return fmt.Sprintf("%.0f %%", 100*v)
}

// times writes a ratio with its interval: "1.72× (1.69–1.75)"; as a cell, without one that tells nothing.
func times(r stat.Ratio) string {
	if r.Interval.Coverage == 0 || r.Interval.Hi >= mostWidth*r.Interval.Lo {
		return fmt.Sprintf("%.2f×", r.Median)
	}
	return fmt.Sprintf("%.2f× (%.2f–%.2f)", r.Median, r.Interval.Lo, r.Interval.Hi)
}

// differencesText says in what the work of two rows or runs differs; "" if in nothing.
func differencesText(all []compare.Difference) string {
	var parts []string
	for _, d := range all {
		switch {
		case d.Name == "end":
			parts = append(parts, "ended early")
		case d.Values == nil:
			parts = append(parts, "other "+d.Name)
		default:
			parts = append(parts, fmt.Sprintf("%s %v against %v", d.Name, d.Values[0], d.Values[1]))
		}
	}
	return strings.Join(parts, ", ")
}
