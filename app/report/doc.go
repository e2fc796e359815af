// Package report renders the results of a benchmark, or of a training run.
//
// [HTML] writes one self-contained page: no external address, no script, a content security
// policy that allows nothing but its own style sheet, plots as inline SVG. [Markdown] writes
// the same tables and statements as text. [Write] puts both beside results.json.
// [TrainingHTML] writes a page for a single run, with what each worker took of processors, memory and
// network; [WriteTraining] puts it into the run directory, and [WriteUnfinished] into that of a run
// that was interrupted.
//
// What is said is decided in app/analysis; this package only decides how it looks. Every
// name that comes from outside (models, data sets, error texts, host names, arguments) is
// escaped: by html/template on the page, by the canvas in SVG, by cell in Markdown.
//
// Output is a pure function of the results, so rendering again gives the same bytes.
package report
