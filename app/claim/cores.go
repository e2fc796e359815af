package claim

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"lockstep/app/analysis"
)

// hosts returns the cores that an entry's machines have; NaN: not said.
func (e *entry) hosts() float64 {
	v := e.cell(hostCores).value
	if !given(v) {
		v = e.table.facts.cores
	}
	if n := e.cell(nodes).value; given(n) && n > 1 {
		v *= n
	}
	return v
}

// contention objects to a speed-up of more threads than there are cores.
func contention(t *table, say sayer) {
	for _, e := range t.measured {
		w, h := e.workers(), e.hosts()
		if !given(w) || !given(h) {
			continue
		}
		each := 1.0
		if v := e.cell(threads).value; given(v) {
			each = v
		}
		_, isContended := analysis.Usable(int(min(w, 1e6))*int(min(each, 1e6)), int(h))
		if !isContended {
			continue
		}
		severity := Noted
		if given(e.cell(speedup).value) || given(e.cell(efficiency).value) {
			severity = Refused
		}
		say(severity, e.name, "%s × %s on %s: contention for cores, not scaling", counted(w, "worker"),
			counted(each, "thread"), counted(h, "core"))
	}
}

// namesCores are the words of a reason that there are too few cores, and their number.
var namesCores = regexp.MustCompile(
	`\b(?:only|just) (?:has |have |of )?(?:the )?(\d+) (?:physical )?cores?\b`)

// isEach tells cores of a worker from those of the machine.
var isEach = regexp.MustCompile(`\b(?:each|every|per)\b`)

// lacksCores returns the number of cores that a reason calls too few; "" if it is another reason.
func lacksCores(reason string) string {
	m := namesCores.FindStringSubmatch(reason)
	if m == nil || isEach.MatchString(reason) {
		return ""
	}
	return m[1]
}

// forLackOfCores judges a sentence whose reason is that there are only n cores: by whether a row that it
// names, or any row if it names none, has more workers × threads than that many, which the table has to tell
// as well, and by what it says before the reason.
func (c *court) forLackOfCores(n string) ruling {
	const more = "columns of workers, threads and the cores of the machine"
	var short, enough, other string
	about := c.subjects
	if len(about) == 0 {
		for _, t := range c.d.tables {
			about = append(about, t.measured...)
		}
	}
	for _, e := range about {
		switch text, there, isShort := e.lackOfCores(); {
		case text != "" && there != n:
			other = cmp.Or(other, text)
		case isShort:
			short = cmp.Or(short, text)
		default:
			enough = cmp.Or(enough, text)
		}
	}
	switch {
	case short == "" && enough == "" && other != "":
		return refusedUntil("cause", more, "%s, not on %s", other, n)
	case short == "" && enough == "":
		return refusedUntil("cause", more, "no columns tell of workers, threads and cores")
	case short == "":
		return refusedUntil("cause", more, "%s: no more than there are", enough)
	}
	said := *c
	said.words = strings.TrimSpace(c.words[:because.FindStringIndex(c.words)[0]])
	r, isUnderstood := said.rule(map[string]fit{})
	switch {
	case !isUnderstood:
		return undecided("%s; what is said before the reason is outside the grammar", short)
	case r.verdict == Holds:
		r.why += "; " + short
	}
	return r
}

// lackOfCores writes the threads and cores of an entry, and the number of cores, and reports whether there
// are more threads; "" if the table does not tell.
func (e *entry) lackOfCores() (text, there string, isShort bool) {
	w, each, h := e.workers(), e.cell(threads).value, e.hosts()
	if !given(h) {
		h = e.cell(cores).value
	}
	if !given(w) || !given(each) || !given(h) {
		return "", "", false
	}
	return fmt.Sprintf("%s has %s × %s on %s", e.name, counted(w, "worker"), counted(each, "thread"),
		counted(h, "core")), num(h), w*each > h
}

// countedCores objects to cores that the machine does not have, or that no thread of the run uses.
func countedCores(t *table, say sayer) {
	if i := t.column(hostCores); t.isHostCores {
		say(Noted, "", "%q has %s in every row, more than some rows keep busy: read as the cores of the "+
			"machine, not of the run", t.columns[i].header, t.rows[0][i].text)
	}
	for _, e := range t.measured {
		c, h := e.cell(cores).value, e.hosts()
		if !given(c) {
			continue
		}
		w, each := e.workers(), e.cell(threads).value
		switch {
		case given(h) && c > h:
			say(Refused, e.name, "%s cores are counted, the machine has %s", num(c), num(h))
		case given(w) && given(each) && c > w*each:
			say(Refused, e.name, "%s cores are counted, and %s × %s keep %s busy", num(c),
				counted(w, "worker"), counted(each, "thread"), num(w*each))
		}
	}
}

// counted writes a number of things.
func counted(n float64, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return num(n) + " " + noun
}

// settleCores takes a column of cores for those of the machine if it has one number in all rows, which some
// row's threads do not keep busy and no row's exceed: a run's own cores would differ between such rows.
func (t *table) settleCores() {
	i := t.column(cores)
	if i < 0 || t.has(hostCores) || len(t.entries) < 2 || !t.has(threads) {
		return
	}
	has, isIdle := t.rows[0][i].value, false
	if has > t.facts.cores {
		return
	}
	for _, e := range t.entries {
		w, each := e.workers(), e.cell(threads).value
		if !given(w) {
			w = 1
		}
		if e.cell(cores).value != has || w*each > has {
			return
		}
		isIdle = isIdle || w*each < has
	}
	if t.isHostCores = isIdle; isIdle {
		t.columns[i].kind = hostCores
	}
}
