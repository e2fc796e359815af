package main

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// tables hold, by ISA, the statements that put functions into the struct of a family's loops.
type tables map[string][]string

// serve lets a function be what place, a field or element of the family's struct, holds on these ISAs.
func (a *assembler) serve(function, place string, isas ...string) {
	for _, isa := range isas {
		a.tables[isa] = append(a.tables[isa], fmt.Sprintf("o.%s = %s", place, function))
	}
}

// methods returns the Go text of a method for each ISA.
func (t tables) methods(family string) []byte {
	var text bytes.Buffer
	for _, isa := range slices.Sorted(maps.Keys(t)) {
		fmt.Fprintf(&text, "\n// set%s puts the functions for this ISA into o.\n", isa)
		fmt.Fprintf(&text, "func (o *%sOps) set%s() {\n\t%s\n}\n", capital(family), isa,
			strings.Join(t[isa], "\n\t"))
	}
	return text.Bytes()
}

// capital returns a name with a capital first letter.
func capital(name string) string { return strings.ToUpper(name[:1]) + name[1:] }
