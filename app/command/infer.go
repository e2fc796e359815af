package command

import (
	"bufio"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"lockstep/app/job/worker"
	"lockstep/app/rundir"
	"lockstep/app/setting"
	"lockstep/checkpoint"
	"lockstep/data"

	"github.com/spf13/cobra"
)

// inference is what `lockstep infer` was asked for.
type inference struct {
	config     setting.Config
	top        int
	isJSON     bool
	text, pair string // columns
	out        *bufio.Writer
	isBegun    bool // the header of the CSV is written
}

// inferCommand says what a trained network makes of new inputs.
func inferCommand(a *app) *cobra.Command {
	var f inference
	c := &cobra.Command{
		Use:   "infer RUN INPUT... [flags]",
		Short: "Say what a trained network makes of new images or texts",
		Long: `Say what a trained network makes of new images or texts.

RUN is the folder of a training run. Of a network for images, an INPUT is a picture or a folder of pictures.
Of one for texts it is a CSV or TSV file with a column of texts, or - for one text per line of the standard
input. All are read as the run's own data was: cut, scaled, normalised, tokenised.

Prints a line per input, in order: CSV with input, label and probability, or with --json one object each,
with the most probable classes. A picture has its path as input, a text its number in the file, from 1.`,
		Example: "  lockstep infer runs/photos holiday/ > labels.csv\n" +
			"  lockstep infer runs/reviews new.csv --text-column comment --json\n" +
			"  echo 'what a film' | lockstep infer runs/reviews -",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usagef("infer: want the folder of a run and at least one input")
			}
			return nil
		},
	}
	c.Flags().IntVar(&f.top, "top", 3, "with --json, the `N` most probable classes")
	c.Flags().BoolVar(&f.isJSON, "json", false, "print a JSON object per input")
	c.Flags().StringVar(&f.text, "text-column", "",
		"`NAME` or number of the column of texts (default: as the run's)")
	c.Flags().StringVar(&f.pair, "pair-column", "",
		"`NAME` or number of that of second texts (default: as the run's)")
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := f.open(a, args[0]); err != nil {
			return err
		}
		if f.top < 1 {
			return usagef("--top %d: want at least 1", f.top)
		}
		ctx, stop := a.interruptible(c.Context())
		defer stop()
		f.out = bufio.NewWriter(a.stdout)
		of := f.images
		if f.config.Models().ReadsTexts(f.config.Model) {
			of = f.texts
		}
		for _, path := range args[1:] {
			if err := of(ctx, path); err != nil {
				return errors.Join(err, f.out.Flush())
			}
		}
		return f.out.Flush()
	}
	return c
}

// open reads the configuration of a run.
func (f *inference) open(a *app, run string) (err error) {
	if f.config, err = setting.ReadFile(filepath.Join(run, rundir.ConfigFile)); err != nil {
		return usagef("infer: %s is no folder of a run: %v", run, err)
	}
	f.config.Catalog, f.config.Weights, f.config.Resume = &a.catalog, run, ""
	f.config.TextColumn = cmp.Or(f.text, f.config.TextColumn)
	f.config.PairColumn = cmp.Or(f.pair, f.config.PairColumn)
	return nil
}

// inferBatch is how many inputs are in memory at a time.
const inferBatch = 4096

// images tells what the images at path are.
func (f *inference) images(ctx context.Context, path string) error {
	paths, err := data.ImagesIn(path)
	if err != nil {
		return err
	}
	for part := range slices.Chunk(paths, inferBatch) {
		read := func(d checkpoint.Description) (*data.Set, error) {
			side := f.config.Size
			if d.Input != nil {
				side = d.Input[0]
			}
			return data.Images(ctx, part, side, len(d.Mean) == 1, d.Classes)
		}
		err := f.tell(ctx, func(i int) any { return part[i] }, read)
		if err != nil {
			return err
		}
	}
	return nil
}

// texts tells what the texts in the file at path are; "-" is the standard input, with one on each line.
func (f *inference) texts(ctx context.Context, path string) (err error) {
	options := f.config.DataOptions(nil)
	var texts, seconds []string
	if path == "-" {
		lines := bufio.NewScanner(os.Stdin)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			texts = append(texts, lines.Text())
		}
		err = lines.Err()
	} else {
		texts, seconds, err = data.ReadTexts(ctx, path, options)
	}
	for lo := 0; lo < len(texts) && err == nil; lo += inferBatch {
		hi := min(lo+inferBatch, len(texts))
		err = f.tell(ctx, func(i int) any { return lo + i + 1 },
			func(d checkpoint.Description) (*data.Set, error) {
				var pairs []string
				if seconds != nil {
					pairs = seconds[lo:hi]
				}
				return data.TextsOf(path, texts[lo:hi], pairs, d.Classes, options)
			})
	}
	return err
}

// named is a class with its probability.
type named struct {
	Label       string  `json:"label"`
	Probability float64 `json:"probability"`
}

// tell prints what the network says of samples, of which name tells what a reader knows them by.
func (f *inference) tell(ctx context.Context, name func(int) any, samples worker.Inputs) error {
	p, classes, err := worker.Infer(ctx, f.config, samples)
	if err != nil {
		return err
	}
	chances, lines, objects := make([]float64, p.NumOutputs), csv.NewWriter(f.out), json.NewEncoder(f.out)
	if !f.isJSON && !f.isBegun {
		err = lines.Write([]string{"input", "label", "probability"})
	}
	f.isBegun = true
	for i := 0; i < p.Len() && err == nil; i++ {
		p.Probabilities(chances, i)
		top := make([]named, p.NumOutputs)
		for k, chance := range chances {
			top[k] = named{classes[k], chance}
		}
		slices.SortStableFunc(top, func(a, b named) int { return cmp.Compare(b.Probability, a.Probability) })
		if !f.isJSON {
			err = lines.Write([]string{fmt.Sprint(name(i)), top[0].Label,
				strconv.FormatFloat(top[0].Probability, 'f', 6, 64)})
		} else {
			err = objects.Encode(struct {
				Input any `json:"input"`
				named
				Top []named `json:"top"`
			}{name(i), top[0], top[:min(f.top, len(top))]})
		}
	}
	lines.Flush()
	return errors.Join(err, lines.Error())
}
