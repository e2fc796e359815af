package command

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"lockstep/checkpoint"
	"lockstep/internal/spelling"
)

// comparison is what diff prints.
type comparison struct {
	Paths   [2]string               `json:"paths"`
	Equal   bool                    `json:"equal"` // the same tensors with the same bits
	Counts  map[string]int          `json:"counts"`
	Tensors []checkpoint.Difference `json:"tensors"` // those that differ
}

func diffCommand(a *app) *cobra.Command {
	return a.answering(&cobra.Command{
		Use:   "diff PATH PATH [flags]",
		Short: "Compare two files of weights tensor by tensor",
		Long: `Compare two files of weights tensor by tensor.

It lists the tensors that the second file adds, lacks, or has in another shape or type. For each
tensor that changed it prints the largest absolute and relative difference. The status is 0 even if
the files differ; the last line, or "equal" of --json, says whether all bits are the same.`,
		Example: "  lockstep checkpoint diff runs/one runs/two",
		Args:    takes(2, 2, "2 paths"),
	}, func(_ *cobra.Command, args []string) (found answer, err error) {
		err = a.withReader(args[0], func(first *checkpoint.Reader) error {
			return a.withReader(args[1], func(second *checkpoint.Reader) error {
				all, err := checkpoint.Compare(first, second)
				d := comparison{Paths: [2]string{first.Path, second.Path}, Counts: map[string]int{},
					Tensors: []checkpoint.Difference{}}
				for _, t := range all {
					d.Counts[t.Kind]++
					if t.Kind != checkpoint.Equal {
						d.Tensors = append(d.Tensors, t)
					}
				}
				d.Equal = len(d.Tensors) == 0
				found = answer{d, func(w io.Writer) error { return d.tell(w, len(all)) }}
				return err
			})
		})
		return found, err
	})
}

func (d comparison) tell(out io.Writer, tensors int) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, t := range d.Tensors {
		text := ""
		switch {
		case t.Kind == checkpoint.Added:
			text = fmt.Sprintf("%s %v", t.OtherDType, t.OtherShape)
		case t.Kind == checkpoint.Removed:
			text = fmt.Sprintf("%s %v", t.DType, t.Shape)
		case t.Kind == checkpoint.Misshapen:
			text = fmt.Sprintf("%s %v, then %s %v", t.DType, t.Shape, t.OtherDType, t.OtherShape)
		case t.MaxAbs != nil:
			text = fmt.Sprintf("by %.3g at most, relative %.3g", *t.MaxAbs, *t.MaxRel)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", t.Kind, spelling.Plain(t.Name), text)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if d.Equal {
		_, err := fmt.Fprintf(out, "all bits of %s are equal\n", spelling.Count(tensors, "tensor"))
		return err
	}
	_, err := fmt.Fprintf(out, "%d equal, %d changed, %d misshapen, %d added, %d removed\n",
		d.Counts[checkpoint.Equal], d.Counts[checkpoint.Changed], d.Counts[checkpoint.Misshapen],
		d.Counts[checkpoint.Added], d.Counts[checkpoint.Removed])
	return err
}
