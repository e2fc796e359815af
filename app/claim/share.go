package claim

import (
	"math"
	"regexp"
	"slices"
	"strings"
)

// shareOf objects to an efficiency that is not speed-up by processors.
func shareOf(e, base *entry, say sayer) {
	c := e.cell(efficiency).derived(efficiency)
	speedups, ratios := e.speedupsOver(base), e.processorsOver(base)
	if !given(c.value) || len(speedups) == 0 || len(ratios) == 0 {
		return
	}
	for _, p := range ratios {
		for _, s := range speedups {
			if v, lo, hi := quotient(s, cell{value: p}); c.fits(lo, hi) {
				coarse(e, efficiency, "efficiency", v, say)
				return
			}
		}
	}
	s, p := speedups[0].value, ratios[0]
	say(Refused, e.name, "efficiency %s, but a speed-up of %s on %s times the processors is %s / %s = %s",
		percent(c.value), num(s), num(p), num(s), num(p), percent(s/p))
}

// speedupsOver returns what may be the entry's speed-up: as written, or by the first kind of time. Rows of
// larger batches may have done as many steps of them, and weak scaling counts their work.
func (e *entry) speedupsOver(base *entry) []cell {
	s := e.speedupOver(base).derived(speedup)
	if !given(s.value) {
		return nil
	}
	all := []cell{s}
	if given(e.cell(speedup).value) {
		return all
	}
	k, _ := timeOf(e, base)
	if (k == epoch || k == total) && work(e, base, k) == 1 {
		all = append(all, s.scaled(grown(e, base)))
	}
	if p := e.processors() / base.processors(); e.table.saysWeak() && !given(e.batch()) && !isWeak(e, base) &&
		given(p) && k != throughput {
		all = append(all, s.scaled(p))
	}
	return all
}

// saysWeak reports whether efficiencies are those of weak scaling by their heading.
func (t *table) saysWeak() bool {
	i := t.column(efficiency)
	return i >= 0 && strings.Contains(t.columns[i].name, "weak")
}

// processorsOver returns how many times the processors of base e may have: as columns say, or else the names.
func (e *entry) processorsOver(base *entry) (ratios []float64) {
	for _, of := range []func(*entry) float64{(*entry).processors, (*entry).workers,
		func(e *entry) float64 { return e.cell(nodes).value }} {
		if ratio := of(e) / of(base); given(ratio) && ratio > 0 {
			ratios = append(ratios, ratio)
		}
	}
	if ratios != nil {
		return ratios
	}
	n, unit := e.inName()
	m, of := base.inName()
	if of == "" && single.MatchString(base.name) {
		m, of = 1, unit
	}
	if ratio := n / m; given(ratio) && ratio > 0 && unit == of {
		return []float64{ratio}
	}
	return nil
}

// namedCount is a number of processors in a name: "4 workers".
var namedCount = regexp.MustCompile(`(?i)(?:^|[^\w.])(\d+)[ -]?(worker|gpu|cpu|node|process|proc|rank|` +
	`device|machine|host|core|thread|replica)(?:e?s)?\b`)

// inName returns the number of processors in the entry's names, and what it counts; NaN: none, or several.
func (e *entry) inName() (n float64, unit string) {
	var said [][]string
	for i, c := range e.table.columns {
		if c.kind == label || c.kind == strategy {
			said = append(said, namedCount.FindAllStringSubmatch(e.table.rows[e.rows[0]][i].text, -1)...)
		}
	}
	if len(said) != 1 {
		return math.NaN(), ""
	}
	return wordNumber(said[0][1]), strings.ToLower(said[0][2])
}

// uncounted notes efficiencies that cannot be checked, because nothing says on how many processors they are.
func (t *table) uncounted(g []*entry, base *entry, say sayer) {
	isUncounted := func(e *entry) bool {
		return base != nil && e != base && given(e.cell(efficiency).value) &&
			given(e.speedupOver(base).value) && e.processorsOver(base) == nil
	}
	if slices.ContainsFunc(g, isUncounted) {
		say(Noted, "", "efficiencies are not checked: no column and no name such as \"4 workers\" says on "+
			"how many processors each row is")
	}
}
