package recipe

import (
	_ "embed"
	"fmt"
	"strings"

	"lockstep/app/setting"
	"lockstep/internal/spelling"
)

// Comparison is a recipe of the second kind: a complete benchmark by name.
type Comparison struct {
	Name string `json:"name"`
	// About says in a sentence what is compared.
	About string `json:"about"`
	// Plan is a file for `lockstep bench --plan`.
	Plan string `json:"plan"`
}

//go:embed r4_strategies.yaml
var r4Strategies string

// Comparisons returns the recipes that are benchmarks in the order in which they are listed.
func Comparisons() []Comparison {
	return []Comparison{
		{Name: "r4-strategies", Plan: r4Strategies,
			About: "every strategy on equal and unequal workers and over slow links: when is a parameter " +
				"server better than an all-reduce"},
	}
}

// ComparisonNamed returns the benchmark called name; ok is false if there is none.
func ComparisonNamed(name string) (c Comparison, ok bool) {
	for _, c := range Comparisons() {
		if c.Name == name {
			return c, true
		}
	}
	return Comparison{}, false
}

// Names returns the names of both kinds of recipes in the order in which they are listed.
func Names() []string {
	var names []string
	for _, r := range All() {
		names = append(names, r.Name)
	}
	for _, c := range Comparisons() {
		names = append(names, c.Name)
	}
	return names
}

// unknown is the error for a name that no recipe has.
func unknown(name string) error {
	return &setting.UsageError{Lines: []string{fmt.Sprintf("no recipe %q%s (known: %s)", name,
		spelling.Hint(name, Names()), strings.Join(Names(), ", "))}}
}
