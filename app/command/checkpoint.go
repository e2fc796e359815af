package command

import (
	"fmt"
	"io"
	"text/tabwriter"

	"lockstep/checkpoint"
	"lockstep/internal/spelling"
	"lockstep/tensor"

	"github.com/spf13/cobra"
)

func checkpointCommand(a *app) *cobra.Command {
	return group(&cobra.Command{
		Use:   "checkpoint",
		Short: "Inspect or compare files of weights",
		Long: `Inspect or compare files of weights.

A PATH is a safetensors file, an index of several (model.safetensors.index.json), or a folder that
contains either, such as a run directory.`,
		Example: "  lockstep checkpoint inspect runs/20261121-101500-lenet-ddp-w2\n" +
			"  lockstep checkpoint diff before.safetensors after.safetensors",
	}, inspectCommand(a), diffCommand(a))
}

// withReader opens the weights at path, calls use, and closes them.
func (a *app) withReader(path string, use func(*checkpoint.Reader) error) error {
	r, err := checkpoint.Open(path)
	if err != nil {
		return err
	}
	defer r.Close() // only read
	return use(r)
}

// contents is what inspect prints.
type contents struct {
	Path     string            `json:"path"`
	Tensors  []tensorLine      `json:"tensors"`
	Elements int               `json:"elements"`
	Bytes    int64             `json:"bytes"`
	Metadata map[string]string `json:"metadata"`
}

type tensorLine struct {
	Name  string           `json:"name"`
	DType checkpoint.DType `json:"dtype"`
	Shape tensor.Shape     `json:"shape"`
	Bytes int64            `json:"bytes"`
}

func inspectCommand(a *app) *cobra.Command {
	return a.answering(&cobra.Command{
		Use:     "inspect PATH [flags]",
		Short:   "List names, types, shapes and sizes",
		Example: "  lockstep checkpoint inspect model.safetensors",
		Args:    takes(1, 1, "one path"),
	}, func(_ *cobra.Command, args []string) (found answer, err error) {
		err = a.withReader(args[0], func(r *checkpoint.Reader) error {
			list := contents{Path: r.Path, Tensors: []tensorLine{}, Metadata: r.Metadata}
			for _, t := range r.Tensors {
				shape := append(tensor.Shape{}, t.Shape...) // of a scalar: [], not null
				list.Tensors = append(list.Tensors, tensorLine{t.Name, t.DType, shape, t.Bytes})
				list.Elements += shape.Elems()
				list.Bytes += t.Bytes
			}
			found = answer{list, list.tell}
			return nil
		})
		return found, err
	})
}

func (list contents) tell(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, t := range list.Tensors {
		fmt.Fprintf(w, "%s\t%s\t%v\t%s\n", spelling.Plain(t.Name), t.DType, t.Shape, spelling.Size(t.Bytes))
	}
	fmt.Fprintf(w, "%s\t\t%d elements\t%s\n", spelling.Count(len(list.Tensors), "tensor"), list.Elements,
		spelling.Size(list.Bytes))
	return w.Flush()
}
