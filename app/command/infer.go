package command

import (
	"bufio"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"

	"lockstep/app/job/input"
	"lockstep/app/setting"
	"lockstep/data"
	"lockstep/infer"
	"lockstep/internal/spelling"

	"github.com/spf13/cobra"
)

// inference is what `lockstep infer` was asked for.
type inference struct {
	base       setting.Config // of weights that are no run
	trained    *input.Trained
	top        int
	skip       uint // damaged pictures that may still be left out
	isJSON     bool
	text, pair string // columns
	out        *bufio.Writer
	notes      io.Writer // for people
	isBegun    bool      // the header of the CSV is written
}

// inferCommand says what a trained network makes of new inputs.
func inferCommand(a *app) *cobra.Command {
	var f inference
	c := &cobra.Command{
		Use:   "infer RUN INPUT... [flags]",
		Short: "Say what a trained network makes of new images, texts or rows",
		Long: `Say what a trained network makes of new images, texts or rows of a table.

RUN is the folder of a training run, an ONNX file, or weights of a network that --model names. Of a network
for images, an INPUT is a picture or a folder of pictures. Of one for texts it is a CSV, TSV or JSONL file
with a column of texts, or - for one text per line of the standard input. Of one for rows it is such a file
with the columns of the training file, in any order, or - for CSV or JSONL from the standard input; a column
of labels is not needed. All are read as the run's own data was: cut, scaled, normalised, tokenised.

Prints a line per input, in order: CSV with input, label and probability (or value), or with --json one
object each, with the most probable classes. A picture has its path as input, a text or a row its number in
the file, from 1. A damaged picture ends it, unless --skip-bad leaves it out.`,
		Example: "  lockstep infer runs/photos holiday/ > labels.csv\n" +
			"  lockstep infer runs/passengers new.csv > labels.csv\n" +
			"  lockstep infer runs/reviews new.csv --text-column comment --json\n" +
			"  echo 'what a film' | lockstep infer runs/reviews -",
		Args: takes(2, math.MaxInt, "the folder of a run and at least one input"),
	}
	c.Flags().IntVar(&f.top, "top", 3, "with --json, the `N` most probable classes")
	c.Flags().BoolVar(&f.isJSON, "json", false, "print a JSON object per input")
	c.Flags().UintVar(&f.skip, "skip-bad", 0, "leave out, and name, up to `N` damaged pictures")
	c.Flags().StringVar(&f.text, "text-column", "",
		"`NAME` or number of the column of texts (default: as the run's)")
	c.Flags().StringVar(&f.pair, "pair-column", "",
		"`NAME` or number of that of second texts (default: as the run's)")
	use := addTrained(c, &f.base)
	c.RunE = func(c *cobra.Command, args []string) (err error) {
		if f.top < 1 {
			return usagef("--top %d: want at least 1", f.top)
		}
		f.base.Catalog = &a.catalog
		if f.trained, err = input.OpenTrained(args[0], f.base, *use); err != nil {
			return err
		}
		defer f.trained.Close()
		ctx, stop := a.interruptible(c.Context())
		defer stop()
		f.out = bufio.NewWriter(a.stdout)
		of := f.images
		switch {
		case f.trained.Network().ReadsTexts():
			of = f.texts
		case f.trained.Table() != nil:
			of = f.rows
		}
		f.notes = a.stderr
		for _, path := range args[1:] {
			if err := of(ctx, path); err != nil {
				return errors.Join(err, f.out.Flush())
			}
		}
		return f.out.Flush()
	}
	return c
}

// addTrained gives c the flags that say what network is in use, and how it computes.
func addTrained(c *cobra.Command, base *setting.Config) *infer.Config {
	addNetwork(c, base)
	use := &infer.Config{}
	f := c.Flags()
	f.IntVar(&use.Threads, "threads", 0, "`N` threads (default: a thread for each core)")
	f.IntVar(&use.Batch, "batch", infer.DefaultBatch, "compute at most `N` inputs together")
	return use
}

// addNetwork gives c the flags that say what network it is about.
func addNetwork(c *cobra.Command, base *setting.Config) {
	*base = setting.Default()
	base.Model = ""
	f := c.Flags()
	f.StringVar(&base.Model, "model", "", "`NAME` of the network, of weights that are no run's folder")
	f.IntVar(&base.Size, "size", base.Size, "`PIXELS` of the side of its images, unless the weights say")
	f.StringVar(&base.Vocab, "vocab", "", "`FILE` of its vocabulary (default: that beside the weights)")
}

// inferBatch is how many inputs are in memory at a time.
const inferBatch = 256

// images tells what the images at path are.
func (f *inference) images(ctx context.Context, path string) error {
	paths, err := data.ImagesIn(path)
	if err != nil {
		return err
	}
	for part := range slices.Chunk(paths, inferBatch) {
		pixels, faults, err := f.trained.Images.Images(ctx, part)
		if err != nil {
			return err
		}
		var inputs []infer.Input
		var names []string
		for i, fault := range faults {
			if fault != nil && f.skip == 0 {
				err = fault
				break
			} else if fault != nil {
				f.skip--
				fault.Next = "left out"
				fmt.Fprintf(f.notes, "note: %v\n", fault)
				continue
			}
			elems := len(pixels) / len(part)
			inputs = append(inputs, infer.Input{Pixels: pixels[i*elems:][:elems]})
			names = append(names, part[i])
		}
		told := f.tell(ctx, func(i int) any { return names[i] }, inputs) // those before an error too
		if err := cmp.Or(told, err); err != nil {
			return err
		}
	}
	return nil
}

// texts tells what the texts in the file at path are; "-" is the standard input, with one on each line.
func (f *inference) texts(ctx context.Context, path string) error {
	c := f.trained.Config
	options := c.DataOptions(nil)
	options.TextColumn = cmp.Or(f.text, c.TextColumn)
	options.PairColumn = cmp.Or(f.pair, c.PairColumn)
	if f.text != "" || f.pair != "" {
		options.LabelColumn = "" // the file is another than the run's
	} else if options.LabelColumn == "" {
		options.LabelColumn = "label" // by a name, as the run's: there is a header
	}
	var inputs []infer.Input
	told := 0
	tell := func() error {
		if len(inputs) == 0 {
			return nil
		}
		err := f.tell(ctx, func(i int) any { return told + i + 1 }, inputs)
		told, inputs = told+len(inputs), inputs[:0]
		return err
	}
	visit := func(text, second string) error {
		inputs = append(inputs, infer.Input{Text: text, Pair: second, IsPair: options.PairColumn != ""})
		if len(inputs) < inferBatch {
			return nil
		}
		return tell()
	}
	var err error
	if path == "-" {
		options.PairColumn = "" // one text on each line
		err = eachLine(func(line string) error { return visit(line, "") })
	} else {
		err = data.EachText(ctx, path, options, visit)
	}
	return cmp.Or(err, tell()) // those before an error are told
}

// rows tells what the rows of the table at path are; "-" is the standard input.
func (f *inference) rows(ctx context.Context, path string) (err error) {
	var rows *data.Rows
	if path == "-" {
		path = "the standard input"
		rows, err = data.ReadRows(ctx, os.Stdin, path)
	} else {
		rows, err = data.OpenRows(ctx, path)
	}
	if err != nil {
		return err
	}
	defer rows.Close()
	unused, err := rows.In(f.trained.Table())
	if err != nil {
		return err
	}
	if len(unused) > 0 {
		fmt.Fprintf(f.notes, "note: %s: not used, as the training file has it not: %s\n", path,
			spelling.Few(unused))
	}
	told := 0
	for inputs := []infer.Input(nil); err == nil; inputs, told = inputs[:0], told+len(inputs) {
		var row []string
		for len(inputs) < inferBatch && err == nil {
			if row, _, err = rows.Next(); err == nil {
				inputs = append(inputs, infer.Input{Row: row})
			}
		}
		if len(inputs) == 0 {
			break
		}
		if err := f.tell(ctx, func(i int) any { return told + i + 1 }, inputs); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(rows.Unknown())) {
		fmt.Fprintf(f.notes, "note: %s: %s of %s with a value that no training row had, taken as none\n",
			path, spelling.Count(rows.Unknown()[name], "row"), name)
	}
	if err == io.EOF && told > 0 {
		return nil
	} else if err == io.EOF {
		err = &data.FormatError{File: path, Offset: -1, Reason: "no row behind the header",
			Next: "give some"}
	}
	return err
}

// tell prints what the network says of inputs, of which name tells what a reader knows them by.
func (f *inference) tell(ctx context.Context, name func(int) any, inputs []infer.Input) error {
	logits, err := f.trained.Predict(ctx, inputs, nil)
	if bad := (*infer.NotFiniteError)(nil); errors.As(err, &bad) {
		return fmt.Errorf("%v: %w", name(bad.Number), err)
	}
	if err != nil {
		return err
	}
	lines, objects := csv.NewWriter(f.out), json.NewEncoder(f.out)
	if !f.isJSON && !f.isBegun {
		err = lines.Write(append([]string{"input"}, f.trained.Columns()...))
	}
	f.isBegun = true
	outputs := f.trained.Network().Classes
	for i := 0; i < len(inputs) && err == nil; i++ {
		answer := f.trained.Answer(logits[i*outputs:][:outputs], f.top)
		if !f.isJSON {
			err = lines.Write(append([]string{fmt.Sprint(name(i))}, answer.Fields()...))
		} else {
			err = objects.Encode(struct {
				Input any `json:"input"`
				infer.Answer
			}{name(i), answer})
		}
	}
	lines.Flush()
	return errors.Join(err, lines.Error())
}
