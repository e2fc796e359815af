// Package command is the lockstep command line.
//
// Results go to stdout, progress and errors to stderr; --json makes stdout one JSON document. The
// exit statuses are those of lockstep/app/job. Each command is one file; commands lists them.
package command
