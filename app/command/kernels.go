package command

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lockstep/app/bench"
	"lockstep/app/evidence/compare"
	"lockstep/app/report"
	"lockstep/app/roofline"
	"lockstep/app/rundir"
	"lockstep/app/setting"
	"lockstep/cluster"
	"lockstep/compute"
	"lockstep/tensor"

	"github.com/spf13/cobra"
)

// kernelFlags are the flags of `lockstep bench kernels` that are not settings of a run.
type kernelFlags struct {
	repeats         int
	math            string
	isSummary       bool
	out             string
	isJSON, isQuiet bool
}

func kernelsCommand(a *app) *cobra.Command {
	var flags kernelFlags
	c := &cobra.Command{
		Use:   "kernels [flags]",
		Short: "Time every kernel against the limits of this machine",
		Long: `Time every kernel against the limits of this machine.

It measures the peak of multiply-adds in registers, that of products of parts if --math has some, and
the memory bandwidth, then every op within a model's training step. Each has GFLOP/s, GB/s and the
fraction of its roofline bound. A summary by kind of op says where the time of a step is lost; the ops
that lose most are named.

GFLOP/s are nominal: they count every product, padding included. Winograd convolutions, Strassen's
products and those that skip padding may exceed the peak. The folder holds results.json (every raw
sample) and report.md.

On a GPU the limits are a large copy within its memory and a large product of matrices. Each op is timed
by the GPU itself, and so is the transfer of the samples; --threads and --isa do not matter.`,
		Example: `  lockstep bench kernels
  lockstep bench kernels --model resnet50 --batch 64 --summary
  lockstep bench kernels --model vgg11 --batch 64 --threads 1
  lockstep bench kernels --model resnet50 --size 224 --batch 8
  lockstep bench kernels --model bert-base --batch 8 --sequence 64
  lockstep bench kernels --model vgg11 --isa avx2 --math exact --json
  lockstep bench kernels --device cuda --model vgg11 --batch 256 --math bf16 --summary`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error { return a.kernels(c, flags) },
	}
	addSettings(c, kernelSettings(&a.catalog))
	f := c.Flags()
	f.StringVar(&flags.math, "math", "fast",
		"how matrix products are computed, a `NAME`: fast, exact, bf16x6, bf16x3 or bf16; on a GPU fp32, "+
			"tf32 or bf16; see lockstep help train math")
	complete(c, "math", cobra.FixedCompletions(a.settingValues("math"), cobra.ShellCompDirectiveNoFileComp))
	f.IntVar(&flags.repeats, "repeats", 11, "`N` samples of every timing; the tables show medians")
	f.BoolVar(&flags.isSummary, "summary", false, "print only where a step goes, by kind of op")
	f.StringVar(&flags.out, "out", "",
		"new or empty `FOLDER` for the results (default: runs/<time>-kernels)")
	f.BoolVar(&flags.isJSON, "json", false, "print results.json instead of tables")
	f.BoolVarP(&flags.isQuiet, "quiet", "q", false, "show no progress")
	return c
}

// kernelSettings are the settings of a run that matter to single kernels.
func kernelSettings(k *setting.Catalog) []setting.Setting {
	settings := slices.DeleteFunc(setting.Settings(k), func(s setting.Setting) bool {
		return !slices.Contains([]string{"model", "batch", "size", "sequence", "threads", "isa", "device"},
			s.Name)
	})
	for i := range settings {
		switch s := &settings[i]; s.Name {
		case "threads":
			s.Usage = "compute threads (default: cores)"
		case "batch":
			s.Usage = "samples of one step"
		case "size":
			s.Usage = "height and width of the images, for a model that reads images"
		case "sequence":
			s.Usage, s.Default = "tokens of each text, for a model that reads texts", kernelSequence
		case "device":
			s.Usage = "what computes; cuda is an NVIDIA GPU, which a binary built with -tags cuda can use, " +
				"cuda:1 the second one; auto takes a GPU if one can be used"
		case "isa":
			s.Usage = strings.Replace(s.Usage, "that all workers have", "here", 1)
		}
		settings[i].Group = "What is timed"
	}
	return settings
}

// kernelSequence is the default length of texts. Few texts are longer, and the activations of bert-base in
// a batch of 64 take some GiB.
const kernelSequence = "128"

// kernels measures, writes the files, then prints the tables.
func (a *app) kernels(c *cobra.Command, flags kernelFlags) error {
	config, err := flags.config(c, a)
	if err != nil {
		return err
	}
	if flags.out == "" {
		flags.out = newFolder("kernels")
	}
	release, err := rundir.Reserve(flags.out)
	if err != nil {
		return err
	}
	defer release()
	ctx, stop := a.interruptible(c.Context())
	defer stop()
	show := newProgress(a, flags.isQuiet)
	v := describeVersion()
	results, err := roofline.Run(ctx, config, compare.Kernels{Version: v.Version,
		Revision: v.Revision, Host: bench.DescribeHost(), Load: bench.Load(),
		Command: append([]string{"lockstep", "bench", "kernels"}, kernelCommandLine(config)...),
	}, show.kernels)
	show.end()
	if errors.Is(err, roofline.ErrMemory) {
		return usagef("%v; try a smaller --batch or --size", err)
	}
	if err != nil {
		return err
	}
	if err := report.WriteKernels(flags.out, results); err != nil {
		return err
	}
	if flags.isJSON {
		return compare.EncodeKernels(a.stdout, results)
	}
	if err := report.Kernels(results, flags.isSummary).Text(a.stdout); err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.stdout, "\n%s\n", filepath.Join(flags.out, report.MarkdownFile))
	return err
}

// config turns the flags and the environment into a measurement.
func (f *kernelFlags) config(c *cobra.Command, a *app) (roofline.Config, error) {
	flags := given(c)
	flags["data"] = "synthetic" // fits every model and needs no file
	isSequenceGiven := flags["sequence"] != ""
	if !isSequenceGiven {
		flags["sequence"] = kernelSequence
	}
	if err := a.checkKernelBatch(flags); err != nil {
		return roofline.Config{}, err
	}
	resolved, origins, err := setting.Resolve(setting.Source{Catalog: &a.catalog, Environment: a.environment,
		Flags: flags})
	if err != nil {
		return roofline.Config{}, err
	}
	if !isSequenceGiven {
		delete(origins, "sequence")
	}
	for _, line := range resolved.Idle(origins) {
		fmt.Fprintln(a.stderr, "note: "+line)
	}
	if f.repeats < 1 || f.repeats > roofline.MaxRepeats {
		return roofline.Config{}, usagef("--repeats: %d is out of range, want 1 to %d", f.repeats,
			roofline.MaxRepeats)
	}
	measured := roofline.Config{Models: a.catalog.Models, Model: resolved.Model, Batch: resolved.Batch,
		Size: resolved.Size, Sequence: resolved.Sequence, Repeats: f.repeats}
	if err := fitsSize(measured); err != nil {
		return measured, err
	}
	if measured.GPU, err = f.gpu(resolved, a.stderr); err != nil || measured.GPU != nil {
		return measured, err
	}
	measured.Threads = resolved.Threads
	if measured.Math, err = compute.ParseMath(f.math); err != nil {
		return measured, usagef("--math: %v", err)
	}
	isa := compute.Best()
	if resolved.ISA != "" {
		if isa, err = compute.ParseISA(resolved.ISA); err != nil {
			return roofline.Config{}, err
		}
	}
	if err := measured.Math.On(isa); err != nil {
		return measured, usagef("--math: %v", err)
	}
	measured.ISA = isa
	return measured, nil
}

// checkKernelBatch refuses what is no batch here, before the setting names the range of training.
func (a *app) checkKernelBatch(flags map[string]string) error {
	where := "--batch"
	text, isGiven := flags["batch"]
	if !isGiven {
		where = cluster.EnvTrain + "BATCH"
		text = a.environment[where]
		isGiven = text != ""
	}
	var n int
	if err := bounded(&n, 1, roofline.MaxBatch).Set(text); isGiven && err != nil {
		return usagef("%s: %v", where, err)
	}
	return nil
}

// fitsSize refuses images that are too small for the model, and says which would do.
func fitsSize(c roofline.Config) error {
	fits := func(size int) error {
		_, err := c.Models.Named(c.Model, 10, tensor.Shape{size, size, 3})
		return err
	}
	if c.ReadsTexts() || fits(c.Size) == nil {
		return nil
	}
	for least := c.Size + 1; least <= 1024; least++ {
		if fits(least) == nil {
			return usagef("--size: %s does not take images of %d by %d pixels, want at least %d", c.Model,
				c.Size, c.Size, least)
		}
	}
	return usagef("--size: %v", fits(c.Size))
}

// gpu returns the GPU that computes; nil: the CPU does, and notes says why if a GPU might have.
func (f *kernelFlags) gpu(c setting.Config, notes io.Writer) (*roofline.GPU, error) {
	if c.Device == setting.DeviceCPU {
		return nil, nil
	}
	c.Math = f.math
	if c.IsDeviceOpen() {
		c = c.Placed(setting.DeviceCUDA)
		g := roofline.GPU{Number: c.DeviceNumber(), Math: c.Math}
		why := c.WantsCPU()
		if err := g.Find(); why == "" && err != nil {
			why = err.Error()
		}
		if why != "" {
			fmt.Fprintf(notes, "note: --device auto: the CPU computes: %s\n", why)
			return nil, nil
		}
		return &g, nil
	}
	c = c.Placed(c.Device)
	if err := c.Validate(); err != nil {
		return nil, usagef("--%v", err) // of math, all else is valid
	}
	g := roofline.GPU{Number: c.DeviceNumber(), Math: c.Math}
	if err := g.Find(); err != nil {
		return nil, usagef("--device: %v; --device cpu needs none", err)
	}
	return &g, nil
}

// kernelCommandLine returns the flags that repeat a measurement in any environment.
func kernelCommandLine(c roofline.Config) []string {
	args := []string{"--model=" + c.Model, fmt.Sprintf("--batch=%d", c.Batch)}
	if g := c.GPU; g != nil {
		args = append(args, fmt.Sprintf("--device=%s:%d", setting.DeviceCUDA, g.Number), "--math="+g.Math)
	} else {
		args = append(args, fmt.Sprintf("--threads=%d", c.Threads), "--isa="+c.ISA.String(),
			"--math="+c.Math.String())
	}
	args = append(args, fmt.Sprintf("--repeats=%d", c.Repeats))
	if c.ReadsTexts() {
		args = append(args, fmt.Sprintf("--sequence=%d", c.Sequence))
	} else {
		args = append(args, fmt.Sprintf("--size=%d", c.Size))
	}
	return args
}

// kernels shows where a measurement of kernels stands.
func (p *progress) kernels(s roofline.Progress) {
	line := fmt.Sprintf("%s  %d/%d", s.Name, s.Done+1, s.All)
	if s.Remaining > 0 {
		line += fmt.Sprintf("  %s left", s.Remaining.Round(time.Second/10))
	}
	p.rewrite(line, false, s.Done == 0)
}
