package command

import (
	"cmp"
	"fmt"
	"io"
	"text/tabwriter"

	"lockstep/app/job/launcher"
	"lockstep/app/setting"
	"lockstep/data"

	"github.com/spf13/cobra"
)

func dataCommand(a *app) *cobra.Command {
	return group(&cobra.Command{
		Use:   "data",
		Short: "List, find or download data sets; turn texts into tokens",
		Long:  ownData,
		Example: "  lockstep data list\n" +
			"  lockstep data download cifar10\n" +
			"  echo \"a text\" | lockstep data tokenize --vocab vocab.txt",
	}, dataListCommand(a), dataPathCommand(a), dataDownloadCommand(a), dataTokenizeCommand(a))
}

// ownData says how data of a user's own is read.
const ownData = `List, find or download data sets; turn texts into tokens.

Data of your own is a path for --data: a folder with a folder of images (JPEG, PNG, WebP) for each class, a
folder of arrays (.npy) or of tar files, or a file (CSV, TSV, JSONL) in UTF-8 with columns of texts and
labels or, for --model mlp, with a column of labels and others of numbers or categories. A folder may have
the parts train, val and test, as folders of classes or as such files: val is evaluated during training,
test at its end. Without both, a tenth of each class is held out for the test, by a hash of each text, row
or image's path. docs/howto/own-data.md tells more.`

// dataSet is a line of `lockstep data list`.
type dataSet struct {
	Name      string `json:"name"`
	Text      string `json:"text"`
	Generated bool   `json:"generated"`
	Path      string `json:"path"` // "": not on this machine
	next      string // what to do if Path is ""
}

func dataListCommand(a *app) *cobra.Command {
	var folder string
	c := &cobra.Command{
		Use:     "list [flags]",
		Short:   "List the data sets and their paths",
		Example: "  lockstep data list --data-dir /data",
		Args:    noArguments,
	}
	addFolder(c, &folder)
	return a.answering(c, func(*cobra.Command, []string) (answer, error) {
		var sets []dataSet
		for _, info := range a.catalog.Data.List() {
			path, err := a.catalog.Data.Locate(info.Name, setting.DataOptions(folder, a.environment))
			if err != nil {
				return answer{}, err
			}
			next := download(info.Name, folder)
			if len(info.Files) == 0 {
				next = "lockstep data path " + info.Name + " says what to put where"
			}
			sets = append(sets, dataSet{info.Name, info.Text, info.Generated, path, next})
		}
		return answer{sets, func(w io.Writer) error { return printSets(w, sets) }}, nil
	})
}

func printSets(out io.Writer, sets []dataSet) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, s := range sets {
		place := s.Path
		switch {
		case s.Generated:
			place = "(generated)"
		case place == "":
			place = "(not here; " + s.next + ")"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", s.Name, s.Text, place)
	}
	return w.Flush()
}

// download returns the command that fetches a data set.
func download(name, folder string) string {
	command := "lockstep data download " + name
	if folder != "" {
		command += " --data-dir " + folder
	}
	return command
}

func dataPathCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:     "path NAME [flags]",
		Short:   "Print the path of a data set",
		Example: "  lockstep data path cifar10",
	}
	return a.fetching(c, func(o *data.Options) func() { o.Offline = true; return func() {} })
}

func dataDownloadCommand(a *app) *cobra.Command {
	var isQuiet bool
	c := &cobra.Command{
		Use:     "download NAME [flags]",
		Short:   "Download a data set unless it is on this machine",
		Example: "  lockstep data download mnist --data-dir /data",
	}
	c.Flags().BoolVarP(&isQuiet, "quiet", "q", false, "show no progress")
	return a.fetching(c, func(o *data.Options) func() {
		show := newProgress(a, isQuiet)
		o.Progress = func(p data.Progress) { show.show(launcher.DownloadProgress(p)) }
		return show.end
	})
}

// fetching lets c fetch a data set, with options that set completes, and print its path. What set returns is
// called at the end.
func (a *app) fetching(c *cobra.Command, set func(*data.Options) func()) *cobra.Command {
	var folder string
	c.Args = takes(1, 1, "the name of one data set; lockstep data list shows them")
	c.ValidArgsFunction = oneOf(a.dataNames())
	addFolder(c, &folder)
	return a.answering(c, func(c *cobra.Command, args []string) (answer, error) {
		ctx, stop := a.interruptible(c.Context())
		defer stop()
		o := setting.DataOptions(folder, a.environment)
		defer set(&o)()
		path, err := a.catalog.Data.Fetch(ctx, args[0], o)
		if err != nil {
			return answer{}, err
		}
		return answer{place{args[0], path}, func(w io.Writer) error {
			_, err := fmt.Fprintln(w, cmp.Or(path, args[0]+" is generated and needs no file"))
			return err
		}}, nil
	})
}

// place is the path of a data set.
type place struct {
	Name string `json:"name"`
	Path string `json:"path"` // "": it is generated and needs no file
}

func addFolder(c *cobra.Command, folder *string) {
	c.Flags().StringVar(folder, "data-dir", "",
		"`FOLDER` of data sets (else LOCKSTEP_DATA, else the user's cache folder)")
}
