package claim

import (
	"regexp"
	"slices"
	"strings"
)

// Note: counts that stand apart
//
// "ddp reaches a speed-up of 3.3 with 4 workers" names a row by two words that do not stand side by side. If
// a sentence is not understood as it stands, the count is taken from its end or its beginning, and names that
// several rows have mean those of so many workers or nodes. Each row that it names must have that number, or
// be the baseline, with which the others are compared.

// countsApart finds the count of a sentence: its rest before and after, the number and what is counted.
var countsApart = []*regexp.Regexp{
	regexp.MustCompile(`^()(?:with|on|using|at|for|over) (\d+) ` + unit + ` (.+)$`),
	regexp.MustCompile(`^(.+) (?:with|on|using|at|for|across) (\d+) ` + unit + `()$`),
}

// twoCounts finds two figures of a sentence, each with its count: "the speedup of ddp grows from 1.8x with 2
// workers to 3.3x with 4". bothCounts finds those of "ddp reaches a speedup of 1.8x with 2 workers and 3.3x
// with 4", group by group the same.
var (
	twoCounts = regexp.MustCompile(`^(.+) (?:` + moves + `|` + rises + `) from (.+?) ` +
		`(with|on|at|for) (\d+) ` + unit + ` to (.+?) (?:with|on|at|for) (\d+)(?: ` + unit + `)?$`)
	bothCounts = regexp.MustCompile(`^(.+) (\d\S*(?: m?s| min)?) (with|on|at|for) (\d+) ` + unit +
		` and (\d\S*(?: m?s| min)?) (?:with|on|at|for) (\d+)(?: ` + unit + `)?$`)
)

// halves returns the two sentences that a sentence of two figures says, or none, and why it is wrong whatever
// the figures of the table: it says that one rises that falls.
func halves(plain string) (first, second, why string) {
	m, verb := twoCounts.FindStringSubmatch(plain), " is "
	if m == nil {
		m, verb = bothCounts.FindStringSubmatch(plain), " "
	}
	if m == nil {
		return "", "", ""
	}
	unit2 := m[5]
	if m[8] != "" {
		unit2 = m[8]
	}
	size := func(text string) float64 {
		if v, _ := lengthOf(text); v > 0 {
			return v
		}
		v, _ := amount(leadingFigure.FindString(text))
		return v
	}
	first = m[1] + verb + strings.Join([]string{m[2], m[3], m[4], m[5]}, " ")
	second = m[1] + verb + strings.Join([]string{m[6], m[3], m[7], unit2}, " ")
	if verb != " " {
		why = turned(plain, size(m[2]), size(m[6]))
	}
	return first, second, why
}

// leadingFigure is the number that a figure such as "3.3x" begins with.
var leadingFigure = regexp.MustCompile(`\d+(?:\.\d+)?`)

// courtsOfHalves returns the tables that a sentence of two figures is judged by: each hears both halves.
func (d *Document) courtsOfHalves(one sentence, first, second string) (out [][]*court) {
	for _, all := range d.courts(one, first) {
		var group []*court
		for _, c := range all {
			if c.t == nil {
				continue
			}
			if c.next = d.hear(c.t, second); c.next != nil {
				group = append(group, c)
			}
		}
		out = append(out, group)
	}
	return out
}

// unit is what is counted.
const unit = `(workers?|process(?:es)?|ranks?|nodes?|hosts?)`

// possessive finds a name with what belongs to it: "ddp's step time is".
var possessive = regexp.MustCompile(`§(\d)'s ((?:\w+ ){0,2}(?:time|speedup|efficiency|throughput|` +
	`accuracy)) (is|was)`)

// hear puts the names of a table's rows in place; nil if a name fits several rows.
func (d *Document) hear(t *table, plain string) *court {
	c := d.named(t, plain, nil)
	if t == nil || c != nil && d.hasForm(c.words) {
		return c
	}
	for _, re := range countsApart {
		m := re.FindStringSubmatch(plain)
		if m == nil {
			continue
		}
		n, _ := amount(m[2])
		has := func(e *entry) bool { return e.counts(m[3]) == n }
		isOther := func(e *entry) bool { return !has(e) && e != t.base }
		apart := d.named(t, m[1]+m[4], has)
		if apart != nil && slices.ContainsFunc(apart.subjects, has) &&
			!slices.ContainsFunc(apart.subjects, isOther) && d.hasForm(apart.words) {
			apart.isMeant = has
			return apart
		}
	}
	return c
}

// counts returns how many workers or nodes, as a sentence calls them, an entry has.
func (e *entry) counts(what string) float64 {
	if what[0] == 'n' || what[0] == 'h' {
		return e.cell(nodes).value
	}
	return e.workers()
}

// named puts the names of a table's rows in place. Of several rows of one name, it takes the one that is
// meant; nil if there is none, or more.
func (d *Document) named(t *table, plain string, isMeant func(*entry) bool) *court {
	c := &court{d: d, t: t, words: plain}
	if t == nil {
		return c
	}
	for {
		begin, end, entries := t.mention(c.words)
		if entries == nil {
			break
		}
		if len(entries) > 1 && isMeant != nil {
			entries = slices.DeleteFunc(slices.Clone(entries), func(e *entry) bool { return !isMeant(e) })
		}
		if len(entries) != 1 || !c.put(begin, end, entries[0]) {
			return nil
		}
	}
	c.words = possessive.ReplaceAllString(withoutArticles(c.words), "the $2 of §$1 $3")
	return c
}
