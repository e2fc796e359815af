// Package report renders the results of a benchmark, or of a training run.
//
// A report begins with its answer: one sentence of app/analysis, whether it is certain, the picture that
// shows it, and at most three cautions. Figures, tables, notes, raw data and settings follow. [HTML] writes
// one self-contained page: no external address, no script, a content security policy that allows nothing
// but its own style sheet, plots as inline SVG (package plot). [Markdown] writes the same statements and
// tables as text. [Write] puts both beside results.json. [WriteTraining] puts those of a single run, with
// what each worker took of processors, memory and network, into the run directory; [WriteCollectives] those
// of measured collectives into their folder; [Overlay] lays runs over each other. A [Report] is one that is
// ready to be written; it can also write each figure as a file.
//
// What is said is decided in app/analysis; this package only decides how it looks. Every name that comes
// from outside (models, data sets, error texts, host names, arguments) is escaped: by html/template on the
// page, by package plot in SVG, by cell in Markdown; characters that are not shown become their numbers.
//
// Output is a pure function of the results, so rendering again gives the same bytes.
package report
