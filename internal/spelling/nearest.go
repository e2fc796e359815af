package spelling

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Nearest returns the name with the smallest edit distance from word, the first of several, or ""
// if none is near: within a third of the word's length, or two edits if that is more. If word or name
// has at most four letters, one edit is allowed and the first letters must agree. An edit is an
// insertion, deletion or replacement of a byte, or a transposition of neighbours (Damerau 1964).
// Upper case in word counts as lower case; the dashes before a flag do not count.
func Nearest(word string, names []string) string {
	word = strings.ToLower(strings.TrimLeft(word, "-"))
	best, bestDistance := "", len(word)+1
	for _, name := range names {
		bare := strings.TrimLeft(name, "-")
		if d := Distance(word, bare); d < bestDistance && isNear(word, bare, d) {
			best, bestDistance = name, d
		}
	}
	return best
}

// isNear reports whether name, which is so many edits away from word, is near it.
func isNear(word, name string, edits int) bool {
	switch {
	case word == "" || name == "":
		return false
	case min(len(word), len(name)) <= 4:
		return edits <= 1 && word[0] == name[0]
	}
	return edits <= max(2, len(word)/3)
}

// Hint returns `; did you mean "x"?` with the names that word begins, if it has three letters and begins a
// few; else with the nearest of names, or "" if none is near.
func Hint(word string, names []string) string {
	const letters, most = 3, 4
	bare := strings.ToLower(strings.TrimLeft(word, "-"))
	begun := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return !strings.HasPrefix(strings.TrimLeft(name, "-"), bare)
	})
	if n := len(begun); len(bare) >= letters && n > 0 && n <= most {
		for i, name := range begun {
			begun[i] = fmt.Sprintf("%q", name)
		}
		if n > 1 {
			begun = []string{strings.Join(begun[:n-1], ", "), begun[n-1]}
		}
		return fmt.Sprintf("; did you mean %s?", strings.Join(begun, " or "))
	}
	if name := Nearest(word, names); name != "" {
		return fmt.Sprintf("; did you mean %q?", name)
	}
	return ""
}

// CheckName returns an error if name cannot be added to names: it is taken, or does not consist of
// lower-case letters, digits, dots, dashes and underscores with a letter first.
func CheckName(name string, names []string) error {
	if slices.Contains(names, name) {
		return fmt.Errorf("the name %q is taken", name)
	}
	isLetter := func(r rune) bool { return 'a' <= r && r <= 'z' }
	for i, r := range name {
		if !isLetter(r) && (i == 0 || !strings.ContainsRune("0123456789.-_", r)) {
			return fmt.Errorf("the name %q, want small letters, digits, '.', '-' and '_', a letter first",
				name)
		}
	}
	if name == "" {
		return errors.New("an empty name")
	}
	return nil
}

// Distance returns the number of edits that turn a into b. Cost: O(len(a) len(b)).
func Distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(a)][len(b)]
}
