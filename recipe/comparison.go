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
	// Hosts is the number of hosts that it needs: those of lockstep launch, or of a lab; 0: none.
	Hosts int `json:"hosts,omitempty"`
}

//go:embed r0.yaml
var r0 string

//go:embed r1.yaml
var r1 string

//go:embed r2.yaml
var r2 string

//go:embed r3.yaml
var r3 string

//go:embed r4.yaml
var r4 string

//go:embed r4_strategies.yaml
var r4Strategies string

// Comparisons returns the recipes that are benchmarks in the order in which they are listed.
func Comparisons() []Comparison {
	return []Comparison{
		{Name: "r0", Plan: r0, Hosts: 3,
			About: "hosts times processes with ResNet-50 and BERT, beside the original report R0"},
		{Name: "r1", Plan: r1,
			About: "one process against two with ResNet-50 on CIFAR-10, beside the original report R1"},
		{Name: "r2", Plan: r2,
			About: "workers over sockets, with and without compression, beside the original report R2"},
		{Name: "r3", Plan: r3, Hosts: 4,
			About: "strategies on up to four hosts with VGG-11 on CIFAR-10, beside the original report R3"},
		{Name: "r4", Plan: r4, Hosts: 3,
			About: "batches, checkpoints, hosts and servers with a small network, beside the original " +
				"report R4"},
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
	return &setting.UsageError{Lines: []string{fmt.Sprintf("no recipe %.80q%s (known: %s)", name,
		spelling.Hint(name, Names()), strings.Join(Names(), ", "))}}
}
