package command

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lockstep/app/bench"
	"lockstep/app/commbench"
	"lockstep/app/record"
	"lockstep/app/report"
	"lockstep/app/rundir"
	"lockstep/app/setting"
	"lockstep/cluster"

	"github.com/spf13/cobra"
)

// commbenchFlags are the flags of commbench.
type commbenchFlags struct {
	config  commbench.Config
	bytes   []string
	out     string
	isJSON  bool
	isQuiet bool
}

func commbenchCommand(a *app) *cobra.Command {
	f := commbenchFlags{bytes: []string{"4KiB", "64KiB", "1MiB", "16MiB"}, config: commbench.Config{
		Operations: []string{"all-reduce"}, Algorithms: []string{"auto"}, Codecs: []string{"fp32"},
		Links: commbench.Links(), Streams: []int{1}, Ranks: []int{2}, Repeats: 30}}
	c := &cobra.Command{
		Use:   "commbench [flags]",
		Short: "Time collectives between workers, on this machine or on several hosts",
		Example: "  lockstep commbench\n" +
			"  lockstep commbench --link shm,tcp --ranks 2,4 --bytes 4KiB,1MiB,64MiB\n" +
			"  lockstep commbench --bytes 4KiB,16KiB,64KiB,256KiB,1MiB,4MiB --out runs/links\n" +
			"  lockstep commbench --link tcp --encryption tls,none\n" +
			"  lockstep launch --hosts a:1,b:1 -- commbench --encryption tls,none --streams 1,4\n" +
			"  lockstep commbench --operation all-reduce,broadcast --algorithm direct,ring --json",
		Args:        noArguments,
		Annotations: map[string]string{spreads: "true"},
		RunE:        func(c *cobra.Command, _ []string) error { return f.run(c, a) },
	}
	flags := c.Flags()
	flags.Var(items(&f.config.Operations), "operation", "a `LIST` of operations: "+
		strings.Join(commbench.Operations(), ", "))
	flags.Var(items(&f.config.Algorithms), "algorithm", "a `LIST` of all-reduce algorithms, as for train")
	flags.Var(items(&f.config.Codecs), "codec", "a `LIST` of codecs of all-reduce: "+
		strings.Join(commbench.Codecs(), ", "))
	flags.Var(items(&f.config.Links), "link", "a `LIST` of links: local within a process, shm and tcp "+
		"between processes")
	flags.Var(items(&f.config.Encryptions), "encryption", "a `LIST`, of tcp links, to compare: "+
		strings.Join(commbench.Encryptions(), ", ")+" (default: tls between hosts, none within one)")
	for name, known := range map[string][]string{"operation": commbench.Operations(),
		"algorithm": a.settingValues("algorithm"), "codec": commbench.Codecs(), "link": commbench.Links(),
		"encryption": commbench.Encryptions()} {
		complete(c, name, listOf(known))
	}
	flags.Var(counts(&f.config.Streams), "streams", fmt.Sprintf("a `LIST`, of tcp links, to compare: "+
		"numbers of connections of each, 1 to %d", cluster.MaxStreams))
	flags.Var(counts(&f.config.Ranks), "ranks", "a `LIST` of numbers of ranks")
	flags.Var(items(&f.bytes), "bytes", "a `LIST` of sizes of the vector, such as 4KiB, 1MiB or 25MB (of "+
		"1000*1000 bytes)")
	flags.IntVar(&f.config.Repeats, "repeats", f.config.Repeats, "`N` samples of each measurement")
	flags.StringVar(&f.out, "out", "", "new or empty `FOLDER` for results.json, report.md and report.html, "+
		"with plots")
	flags.BoolVar(&f.isJSON, "json", false, "print one JSON document on stdout")
	flags.BoolVarP(&f.isQuiet, "quiet", "q", false, "show no progress")
	return c
}

// run checks the command line, measures, and prints and keeps the measurements.
func (f *commbenchFlags) run(c *cobra.Command, a *app) error {
	if err := f.complete(); err != nil || a.surveyed() {
		return err
	}
	if err := f.withHosts(c, a); err != nil {
		return err
	}
	if f.out != "" {
		release, err := rundir.Reserve(f.out)
		if err != nil {
			return err
		}
		defer release()
	}
	ctx, stop := a.interruptible(c.Context())
	defer stop()
	measured := report.Measured{Command: append([]string{"lockstep", "commbench"}, commandLine(c)...),
		Started: time.Now().UTC(), Host: bench.DescribeHost()}
	var err error
	measured.Collectives, err = f.measure(ctx, a)
	if err == nil {
		measured.Hosts, err = record.ParseHosts(a.environment[cluster.EnvPreflight])
	}
	if err == nil && f.out != "" {
		err = report.WriteCollectives(f.out, measured)
	}
	switch {
	case err != nil:
		return err
	case f.isJSON:
		return writeJSON(a, measured.Collectives)
	}
	page, err := report.Collectives(measured)
	if err == nil {
		err = page.Text(a.stdout)
	}
	if err == nil && f.out != "" {
		_, err = fmt.Fprintf(a.stdout, "\n%s\n", filepath.Join(f.out, report.HTMLFile))
	}
	return err
}

// complete parses the flags that are given as text.
func (f *commbenchFlags) complete() error {
	for _, text := range f.bytes {
		n, err := setting.ParseBytes(text)
		if err != nil {
			return usagef("--bytes: %v", err)
		}
		f.config.Bytes = append(f.config.Bytes, n)
	}
	if err := f.config.Validate(); err != nil {
		return usagef("commbench: %v", err)
	}
	return nil
}

// measure starts the ranks and returns their measurements.
func (f *commbenchFlags) measure(ctx context.Context, a *app) ([]record.Collective, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program to start workers: %w", err)
	}
	return commbench.Run(ctx, f.config, commbench.Options{Environment: a.environment,
		Worker: []string{self, "worker", commbenchWork}, Progress: newProgress(a, f.isQuiet).commbench})
}

// withHosts sets the hosts to those of the lab or the roster, if there are several, and by default only links
// that its ranks can use.
func (f *commbenchFlags) withHosts(c *cobra.Command, a *app) error {
	n := a.environment.NumHosts()
	if n == 0 {
		return nil
	}
	if _, err := a.environment.HostNames(slices.Max(f.config.Ranks)); err != nil {
		return err
	}
	f.config.Hosts = n
	if !c.Flags().Changed("link") && n > 1 {
		f.config.Links = slices.DeleteFunc(commbench.Links(), func(link string) bool {
			return link == "local" || link == "shm" && a.environment.IsApart(slices.Min(f.config.Ranks), 0)
		})
	}
	return nil
}

// commbench shows which measurement is under way.
func (p *progress) commbench(done, all int, what string) {
	p.rewrite(fmt.Sprintf("%d/%d  %s", done, all, what), false, done == all)
	if done == all {
		p.end()
	}
}
