// Command lockstep trains neural networks data-parallel on CPU machines and says where the time
// goes.
//
// Results go to stdout, progress and errors to stderr; --json makes stdout one JSON document. The
// exit statuses are those of lockstep/internal/job. Each command is one file; commands lists them.
package main
