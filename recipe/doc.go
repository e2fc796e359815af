// Package recipe lists complete named runs.
//
// A [Comparison] is a recipe of a second kind, a whole benchmark; [Comparisons] lists them. A new one is a
// plan file and a line in that list.
//
// A [Recipe] holds every setting of a run, its goal, and the figures of measured runs. [All] lists the
// recipes, [Named] finds one. A variant is a recipe with changed fields, or an edited copy of the YAML of its
// configuration. A new recipe is a file with a function, a line in the list of All, and a line of its golden
// file.
package recipe
