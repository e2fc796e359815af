package command

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"lockstep/app/bench"
	"lockstep/app/commbench"
	"lockstep/app/record"
	"lockstep/app/report"
	"lockstep/app/rundir"
	"lockstep/app/setting"
	"lockstep/cluster"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
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
	var f commbenchFlags
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
	links := commbench.Links()
	flags := c.Flags()
	flags.StringSliceVar(&f.config.Operations, "operation", []string{"all-reduce"},
		"operations: all-reduce, reduce-scatter, reduce, all-gather, gather, scatter, broadcast, barrier")
	flags.StringSliceVar(&f.config.Algorithms, "algorithm", []string{"auto"},
		"all-reduce algorithms, as for train")
	flags.StringSliceVar(&f.config.Codecs, "codec", []string{"fp32"},
		"codecs of all-reduce: "+strings.Join(commbench.Codecs(), ", "))
	complete(c, "operation", listOf(commbench.Operations()))
	complete(c, "algorithm", listOf(a.settingValues("algorithm")))
	complete(c, "codec", listOf(commbench.Codecs()))
	flags.IntVar(&f.config.Hosts, "hosts", 1, "simulated hosts over which the ranks are spread: shm links "+
		"ranks of one host, tcp ranks of different hosts")
	flags.StringSliceVar(&f.config.Links, "link", links,
		"links: local within a process, shm and tcp between processes")
	complete(c, "link", listOf(links))
	flags.StringSliceVar(&f.config.Encryptions, "encryption", nil, "of tcp links, to compare: "+
		strings.Join(commbench.Encryptions(), ", ")+" (default: tls between hosts, none within one)")
	complete(c, "encryption", listOf(commbench.Encryptions()))
	flags.IntSliceVar(&f.config.Streams, "streams", []int{1}, "of tcp links, to compare: numbers of "+
		fmt.Sprintf("connections of each, 1 to %d", cluster.MaxStreams))
	flags.IntSliceVar(&f.config.Ranks, "ranks", []int{2}, "numbers of ranks")
	flags.StringSliceVar(&f.bytes, "bytes", []string{"4KiB", "64KiB", "1MiB", "16MiB"},
		"sizes of the vector, such as 4KiB, 1MiB or 25MB (of 1000*1000 bytes)")
	flags.IntVar(&f.config.Repeats, "repeats", 30, "samples of each measurement")
	flags.StringVar(&f.out, "out", "", "new or empty `FOLDER` for results.json, report.md and report.html, "+
		"with plots")
	flags.BoolVar(&f.isJSON, "json", false, "print one JSON document on stdout")
	flags.BoolVarP(&f.isQuiet, "quiet", "q", false, "show no progress")
	return c
}

// run checks the command line, measures, and prints and keeps the measurements.
func (f *commbenchFlags) run(c *cobra.Command, a *app) error {
	if err := f.complete(); err != nil {
		return err
	}
	if a.surveyed() {
		return nil
	}
	if err := f.withHosts(c, a); err != nil {
		return err
	}
	if c.Flags().Changed("streams") && !f.config.HasTCP() {
		fmt.Fprintln(a.stderr, "note: --streams has no effect: no rank is linked by TCP; want --link tcp")
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
	started := time.Now()
	records, notes, err := f.measure(ctx, a)
	if err != nil {
		return err
	}
	if f.out != "" {
		if err := f.write(c, a, started, records); err != nil {
			return err
		}
	}
	if f.isJSON {
		return writeJSON(a, records)
	}
	if err := printCommbench(a.stdout, records, notes); err != nil || f.out == "" {
		return err
	}
	_, err = fmt.Fprintf(a.stdout, "\n%s\n", filepath.Join(f.out, report.HTMLFile))
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

// measure starts the ranks and returns their measurements, with lines that explain the algorithms.
func (f *commbenchFlags) measure(ctx context.Context, a *app) (records []commbench.Record, notes []string,
	err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, fmt.Errorf("find this program to start workers: %w", err)
	}
	records, err = commbench.Run(ctx, f.config, commbench.Options{
		Environment: a.environment, Worker: []string{self, "worker", commbenchWork},
		Progress: newProgress(a, f.isQuiet).commbench,
		Note:     func(line string) { notes = append(notes, line) },
	})
	return records, notes, err
}

// write keeps the measurements, and plots them.
func (f *commbenchFlags) write(c *cobra.Command, a *app, started time.Time,
	records []commbench.Record) error {
	list, err := json.Marshal(records)
	if err != nil {
		return err
	}
	command := []string{"lockstep", "commbench"}
	c.Flags().Visit(func(flag *pflag.Flag) {
		if flag.Name != "json" && flag.Name != "quiet" {
			command = append(command, "--"+flag.Name, strings.Trim(flag.Value.String(), "[]"))
		}
	})
	hosts, err := record.ParseHosts(a.environment[cluster.EnvPreflight])
	if err != nil {
		return err
	}
	return report.WriteCollectives(f.out, report.Measured{Command: command, Started: started.UTC(),
		Host: bench.DescribeHost(), Hosts: hosts, Collectives: list})
}

// withHosts sets the hosts to those of the lab or the roster, if there are several, and by default only links
// that its ranks can use.
func (f *commbenchFlags) withHosts(c *cobra.Command, a *app) error {
	n := a.environment.NumHosts()
	if n == 0 {
		return nil
	}
	if c.Flags().Changed("hosts") {
		return usagef("--hosts is for simulated hosts; there are %d already", n)
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

// printCommbench writes a table of the measurements, then the reasons for the chosen algorithms.
func printCommbench(out io.Writer, records []commbench.Record, notes []string) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "operation\talgorithm\tcodec\tlink\tencryption\tstreams\thosts\tranks\tbytes\tmedian\t"+
		"p10\tp90\tpredicted\talgorithm GB/s\tbus GB/s\tsent\tformula\t")
	for _, r := range records {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%d\t%d\t%s\t%s\t%s\t%s\t%s\t%.2f\t%.2f\t%d\t%d\t\n",
			r.Operation, r.Algorithm, r.Codec, r.Link, cmp.Or(r.Encryption, "-"), streams(r), r.Hosts,
			r.Ranks, setting.FormatBytes(r.Bytes), short(r.Seconds.Median), short(r.Seconds.P10),
			short(r.Seconds.P90), predicted(r), r.AlgorithmGBPerSecond, r.BusGBPerSecond, r.BytesSent,
			r.BytesFormula)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	isOff := false
	for _, r := range records {
		if r.Doubt != "" {
			fmt.Fprintf(out, "caution: %s\n", r.Doubt)
			isOff = true
		}
	}
	if isOff {
		fmt.Fprintln(out, commbench.Explanation)
	}
	for _, line := range notes {
		fmt.Fprintln(out, line)
	}
	return nil
}

// predicted formats the predicted time; "" if there is none.
func predicted(r commbench.Record) string {
	if r.SecondsPredicted == 0 {
		return ""
	}
	return short(r.SecondsPredicted)
}

// streams formats the number of streams.
func streams(r commbench.Record) string {
	if r.Streams == 0 {
		return "-"
	}
	return strconv.Itoa(r.Streams)
}

// short formats a time with three digits.
func short(seconds float64) string {
	d := time.Duration(seconds * 1e9)
	for unit := time.Duration(1); ; unit *= 10 {
		if d < 1000*unit {
			return d.Round(unit).String()
		}
	}
}

// commbench shows which measurement is under way.
func (p *progress) commbench(done, all int, what string) {
	p.rewrite(fmt.Sprintf("%d/%d  %s", done, all, what), false, done == all)
	if done == all {
		p.end()
	}
}
