// Package recipe lists complete named runs.
//
// A [Recipe] is a function's value: every setting of a run, what it should reach, and the figures of
// runs that were measured. [All] lists them, [Named] finds one. A variant is a recipe with changed
// fields, or the YAML of its configuration, edited. A new recipe is a file with its function, a line in
// the list of All, and a line of its golden file.
package recipe
