// Package report renders the results of a benchmark, or of a training run.
//
// Every report is a page: its answer, or that of the first question of its plan, with how far it is told,
// the picture that shows it, at most three cautions, then tables, figures, notes and settings. A [Report] is
// one that is ready to be written, by one of three writers. [Report.HTML] writes one self-contained page: no
// external address, no script, a content security policy that allows nothing but its own style sheet, plots
// as inline SVG (package plot). [Report.Markdown] writes the same statements and tables as text,
// [Report.Text] the short form for a terminal, the answer last.
//
// [Benchmark] lays out a benchmark, [Run] a single run with what each worker took of processors, memory and
// network, [Overlay] runs over each other, [Collectives] measured collectives, [Kernels] timed kernels. A
// table is made by columns from the things that its rows are about; a figure is a title, a caption and a
// chart, whose legend and values follow from it.
//
// Every name that comes from outside (models, data sets, error texts, host names, arguments) is escaped: by
// html/template on the page, by package plot in SVG, by cell in Markdown; characters that are not shown
// become their numbers. Output is a pure function of the results, so rendering again gives the same bytes.
package report
