package claim

import (
	"slices"
	"strings"
	"unicode"
)

// Note: what tells rows apart
//
// A column that no rule reads can still say what its rows are: a framework, a compiler, a message size. Where
// rows are alike in all columns that are read, such columns are part of their names. Words count anywhere,
// numbers only before the first figure, because behind it they are results.

// settleNames makes columns that no rule reads part of the rows' names where rows are alike without them: the
// first column that tells all of them apart, or else each one that tells more of them apart.
func (t *table) settleNames() {
	t.dropDoubles()
	keys := t.rowKeys()
	if _, isNumbered := t.naming(); isNumbered {
		keys = make([]string, len(t.rows)) // such names tell nothing
	}
	alike, num := keys, numDistinct(keys)
	var useful []int
	for i := range t.columns {
		if num == len(t.rows) || !t.mayName(i) {
			continue
		}
		more := t.withColumn(keys, i)
		switch n := numDistinct(more); {
		case numDistinct(t.withColumn(alike, i)) == len(t.rows):
			t.makeName(i)
			return
		case n > num:
			keys, num, useful = more, n, append(useful, i)
		}
	}
	for _, i := range useful {
		t.makeName(i)
	}
}

// dropDoubles keeps the first of several columns of a kind that a table may have once.
func (t *table) dropDoubles() {
	seen := map[kind]bool{}
	for i := range t.columns {
		c := &t.columns[i]
		if seen[c.kind] && !c.kind.isOften() {
			c.kind = unknown
		}
		seen[c.kind] = true
	}
}

// rowKeys returns for each row what tells it from others: its names, settings, repeat, seed, rank and place.
func (t *table) rowKeys() []string {
	keys := make([]string, len(t.rows))
	for i, c := range t.columns {
		if c.identifies() || c.kind.tellsApart() {
			keys = t.withColumn(keys, i)
		}
	}
	return keys
}

// withColumn returns keys with the cells of column i behind them.
func (t *table) withColumn(keys []string, i int) []string {
	out := make([]string, len(keys))
	for r, key := range keys {
		out[r] = key + strings.ToLower(t.rows[r][i].text) + "\x00"
	}
	return out
}

func numDistinct(keys []string) int {
	seen := map[string]bool{}
	for _, key := range keys {
		seen[key] = true
	}
	return len(seen)
}

// mayName reports whether a column that is no name may tell rows apart.
func (t *table) mayName(i int) bool {
	isBefore := i < t.firstFigure()
	switch t.columns[i].kind {
	case unknown:
		return isBefore || t.isWords(i)
	case cores, hostCores:
		return isBefore
	}
	return false
}

// hasOtherSetting reports whether a column that no rule reads may tell rows apart, and differs between them.
func (t *table) hasOtherSetting() bool {
	for i, c := range t.columns {
		cells := t.withColumn(make([]string, len(t.rows)), i)
		if c.kind == unknown && t.mayName(i) && numDistinct(cells) > 1 {
			return true
		}
	}
	return false
}

// makeName makes a column part of the rows' names.
func (t *table) makeName(i int) {
	c := &t.columns[i]
	if c.kind == unknown {
		c.kind = setting
		c.name, _ = headingWords(c.header)
	}
	c.isName = true
}

// firstFigure returns the first column of what rows are compared by; without one, the number of columns.
func (t *table) firstFigure() int {
	i := slices.IndexFunc(t.columns, func(c column) bool {
		return c.kind >= total && c.kind != classes && c.kind != repeats
	})
	if i < 0 {
		return len(t.columns)
	}
	return i
}

// isWords reports whether a column holds words, and no numbers.
func (t *table) isWords(i int) bool {
	isSome := false
	for _, row := range t.rows {
		one := row[i]
		if given(one.value) || given(one.lo) {
			return false
		}
		isSome = isSome || !isBlank(one.text) && strings.ContainsFunc(one.text, unicode.IsLetter)
	}
	return isSome
}

// isOrigin reports whether each cell of a column says that its row was measured, or that it was not, and both
// are said.
func (t *table) isOrigin(i int) bool {
	isMeasured, isProjected := false, false
	for _, row := range t.rows {
		switch text := strings.ToLower(row[i].text); {
		case strings.HasPrefix(text, "measured"):
			isMeasured = true
		case projections.MatchString(text):
			isProjected = true
		default:
			return false
		}
	}
	return isMeasured && isProjected
}
