package lockstep

import (
	"context"
	"fmt"
	"os"

	"lockstep/app/command"
	"lockstep/app/job"
	"lockstep/app/setting"
	"lockstep/data"
	"lockstep/graph"
)

// Option adds something of a program's own to the command line that Main runs.
type Option func(*setting.Catalog) error

// Model adds a network under a name that every command knows: help, the hint after a mistyped name and
// completion included. build adds the network to the graph of x, images [N, H, W, C], and returns
// logits [N, classes]. A name that is taken is an error at start.
func Model(name string, build func(x *graph.Node, classes int) *graph.Node) Option {
	return func(k *setting.Catalog) (err error) {
		k.Models, err = k.Models.With(name, build)
		return err
	}
}

// Dataset adds a data set under a name that every command knows. load is called in every worker process
// and must return the same samples in each; a nil test set means no evaluation. A name that is taken is an
// error at start.
func Dataset(name string,
	load func(context.Context, data.Options) (train, test *data.Set, err error)) Option {
	return func(k *setting.Catalog) (err error) {
		k.Data, err = k.Data.With(name, load)
		return err
	}
}

// Main parses the command line, runs it and exits with the documented status. Workers are processes
// of the same program, so Main is the first call of main.
func Main(options ...Option) {
	var k setting.Catalog
	for _, option := range options {
		if err := option(&k); err != nil {
			fmt.Fprintf(os.Stderr, "lockstep: %v\n", err)
			os.Exit(job.ExitUsage)
		}
	}
	command.Main(k)
}
