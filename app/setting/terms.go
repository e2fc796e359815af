package setting

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// maxTerm is the most bytes of a term; of a longer text it has the beginning and a hash.
const maxTerm = 64

// NewTerm returns a text as a term.
func NewTerm(text string) string {
	if len(text) <= maxTerm {
		return text
	}
	return fmt.Sprintf("%.40q... (sha256 %.8x)", text, sha256.Sum256([]byte(text)))
}

// Terms returns what the processes of a job that one launcher has started must agree on, by name: the values
// that s gives, other than the defaults, of all settings but those that are each process's own. Values that
// follow from a run that is resumed, or from the machine, are decided by one process for all. Errors are
// those of Resolve.
func Terms(s Source) (map[string]string, error) {
	r := newResolver(s.Catalog)
	if s.File != "" && s.Flags["resume"] == "" {
		if err := r.readFile(s.File); err != nil {
			return nil, err
		}
	}
	r.readEnvironment(s.Environment)
	r.takeFlags(s.Flags)
	if err := usageError(r.problems); err != nil {
		return nil, err
	}
	terms := map[string]string{}
	for _, name := range differing(r.config, Default()) {
		if setting := r.find(name); !setting.isOwn {
			terms["--"+name] = NewTerm(setting.text())
		}
	}
	return terms, nil
}

// Disagreement says in what the terms of a process differ from those of rank 0; "" if they are the same.
func Disagreement(its, rank0 map[string]string) string {
	const leftOut = "left out"
	all := map[string]string{}
	maps.Copy(all, its)
	maps.Copy(all, rank0)
	var differences []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if its[name] != rank0[name] {
			differences = append(differences, fmt.Sprintf("%s %s (rank 0: %s)", name,
				cmp.Or(its[name], leftOut), cmp.Or(rank0[name], leftOut)))
		}
	}
	return strings.Join(differences, ", ")
}
