package command

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"lockstep/app/bench"
	"lockstep/app/evidence/compare"
	"lockstep/app/report"
	"lockstep/app/roofline"
	"lockstep/app/rundir"
	"lockstep/app/setting"
	"lockstep/compute"

	"github.com/spf13/cobra"
)

// kernelFlags are the flags of `lockstep bench kernels` that are not settings of a run.
type kernelFlags struct {
	repeats         int
	isSummary       bool
	out             string
	isJSON, isQuiet bool
}

func kernelsCommand(a *app) *cobra.Command {
	flags := kernelFlags{repeats: 11}
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
  lockstep bench kernels --model resnet50 --size 224 --batch 8
  lockstep bench kernels --model vgg11 --isa avx2 --math exact --json
  lockstep bench kernels --device cuda --model vgg11 --batch 256 --math bf16 --summary`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error { return a.kernels(c, flags) },
	}
	addSettings(c, kernelSettings(&a.catalog))
	f := c.Flags()
	f.Var(bounded(&flags.repeats, 1, roofline.MaxRepeats), "repeats",
		"`N` samples of every timing; the tables show medians")
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
		return !slices.Contains([]string{"model", "batch", "size", "sequence", "threads", "isa", "device",
			"math"}, s.Name)
	})
	for i := range settings {
		if settings[i].Name == "sequence" {
			settings[i].Default = kernelSequence
		}
	}
	return settings
}

// kernelSequence is the default length of texts: few are longer.
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
		Revision: v.Revision, Host: bench.DescribeHost(),
		Command: append([]string{"lockstep", "bench", "kernels"}, commandLine(c)...),
	}, show.kernels)
	show.end()
	if err != nil && ctx.Err() == nil {
		return usagef("%v", err) // a model, a size or a batch that cannot be timed here
	} else if err != nil {
		return err
	}
	if err := report.WriteKernels(flags.out, results); err != nil {
		return err
	}
	if flags.isJSON {
		return writeJSON(a, results)
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
	flags["sequence"] = cmp.Or(flags["sequence"], kernelSequence)
	resolved, _, err := setting.Resolve(setting.Source{Catalog: &a.catalog, Environment: a.environment,
		Flags: flags})
	if err != nil {
		return roofline.Config{}, err
	}
	measured := roofline.Config{Models: a.catalog.Models, Model: resolved.Model, Batch: resolved.Batch,
		Size: resolved.Size, Sequence: resolved.Sequence, Repeats: f.repeats}
	if measured.GPU, err = kernelGPU(resolved, a.stderr); err != nil || measured.GPU != nil {
		return measured, err
	}
	measured.Threads = resolved.Threads
	if measured.Math, err = compute.ParseMath(resolved.Math); err != nil {
		return measured, usagef("--math: %v", err)
	}
	measured.ISA, err = resolved.KernelPath()
	return measured, err
}

// kernelGPU returns the GPU that computes; nil: the CPU does, and notes says why if a GPU might have.
func kernelGPU(c setting.Config, notes io.Writer) (*roofline.GPU, error) {
	if c.Device == setting.DeviceCPU {
		return nil, nil
	}
	isOpen, why := c.IsDeviceOpen(), c.WantsCPU()
	if isOpen {
		c.Device = setting.DeviceCUDA
	}
	c = c.Placed(c.Device)
	g := roofline.GPU{Number: c.DeviceNumber(), Math: c.Math}
	err := g.Find()
	switch {
	case err == nil && why == "":
		return &g, nil
	case !isOpen:
		return nil, usagef("--device: %v; --device cpu needs none", err)
	case why == "":
		why = err.Error()
	}
	fmt.Fprintf(notes, "note: --device auto: the CPU computes: %s\n", why)
	return nil, nil
}

// kernels shows where a measurement of kernels stands.
func (p *progress) kernels(s roofline.Progress) {
	line := fmt.Sprintf("%s  %d/%d", s.Name, s.Done+1, s.All)
	if s.Remaining > 0 {
		line += fmt.Sprintf("  %s left", s.Remaining.Round(time.Second/10))
	}
	p.rewrite(line, false, s.Done == 0)
}
