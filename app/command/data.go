package command

import (
	"fmt"
	"text/tabwriter"

	"lockstep/app/job/launcher"
	"lockstep/app/setting"
	"lockstep/data"

	"github.com/spf13/cobra"
)

func dataCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "data",
		Short: "List, find or download data sets; turn texts into tokens",
		Long:  ownData,
		Example: "  lockstep data list\n" +
			"  lockstep data download cifar10\n" +
			"  echo \"a text\" | lockstep data tokenize --vocab vocab.txt",
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return c.Help()
			}
			return unknownCommand(c, args[0])
		},
	}
	c.AddCommand(dataListCommand(a), dataPathCommand(a), dataDownloadCommand(a), dataTokenizeCommand(a))
	return c
}

// ownData says how data of a user's own is read.
const ownData = `List, find or download data sets; turn texts into tokens.

Data of your own is a path for --data: a folder with a folder of images (PNG, JPEG) for each class, or a
file of texts (CSV, TSV) in UTF-8 with columns of texts and labels. A .csv is separated by commas or, if its
first line has none, by tabs or semicolons. A folder may have the parts train, val and test, as folders of
classes or as files of texts: val is evaluated during training, test at its end. Without both, a tenth of
each class is held out for the test, by a hash of each text or of the image's path, whatever their order;
equal texts of a class stay together. --eval-only scores all samples of data without parts. Before training,
one line says how many samples of each class are in each part, and what was left out.

Images are turned upright by their Exif, cropped to the middle square and scaled to --size. Transparency is
dropped, as by torchvision.`

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
	var isJSON bool
	c := &cobra.Command{
		Use:     "list [flags]",
		Short:   "List the data sets and their paths",
		Example: "  lockstep data list --data-dir /data",
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			var sets []dataSet
			for _, info := range a.catalog.Data.List() {
				path, err := a.catalog.Data.Locate(info.Name, setting.DataOptions(folder, a.environment))
				if err != nil {
					return err
				}
				next := download(info.Name, folder)
				if len(info.Files) == 0 {
					next = "lockstep data path " + info.Name + " says what to put where"
				}
				sets = append(sets, dataSet{info.Name, info.Text, info.Generated, path, next})
			}
			if isJSON {
				return writeJSON(a, sets)
			}
			w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
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
		},
	}
	addFolder(c, &folder)
	addJSON(c, &isJSON)
	return c
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
	var folder string
	var isJSON bool
	c := &cobra.Command{
		Use:               "path NAME [flags]",
		Short:             "Print the path of a data set",
		Example:           "  lockstep data path cifar10",
		Args:              oneDataSet,
		ValidArgsFunction: oneOf(a.dataNames()),
		RunE: func(c *cobra.Command, args []string) error {
			o := setting.DataOptions(folder, a.environment)
			o.Offline = true
			path, err := a.catalog.Data.Fetch(c.Context(), args[0], o)
			if err != nil {
				return err
			}
			return printPlace(a, place{args[0], path}, isJSON)
		},
	}
	addFolder(c, &folder)
	addJSON(c, &isJSON)
	return c
}

func dataDownloadCommand(a *app) *cobra.Command {
	var folder string
	var isJSON, isQuiet bool
	c := &cobra.Command{
		Use:               "download NAME [flags]",
		Short:             "Download a data set unless it is on this machine",
		Example:           "  lockstep data download mnist --data-dir /data",
		Args:              oneDataSet,
		ValidArgsFunction: oneOf(a.dataNames()),
		RunE: func(c *cobra.Command, args []string) error {
			ctx, stop := a.interruptible(c.Context())
			defer stop()
			progress := newProgress(a, isQuiet)
			defer progress.end()
			o := setting.DataOptions(folder, a.environment)
			o.Progress = func(p data.Progress) { progress.show(launcher.DownloadProgress(p)) }
			path, err := a.catalog.Data.Fetch(ctx, args[0], o)
			if err != nil {
				return err
			}
			return printPlace(a, place{args[0], path}, isJSON)
		},
	}
	addFolder(c, &folder)
	addJSON(c, &isJSON)
	c.Flags().BoolVarP(&isQuiet, "quiet", "q", false, "show no progress")
	return c
}

// place is the path of a data set.
type place struct {
	Name string `json:"name"`
	Path string `json:"path"` // "": it is generated and needs no file
}

// printPlace prints the path of a data set.
func printPlace(a *app, p place, isJSON bool) error {
	if isJSON {
		return writeJSON(a, p)
	}
	text := p.Path
	if text == "" {
		text = p.Name + " is generated and needs no file"
	}
	_, err := fmt.Fprintln(a.stdout, text)
	return err
}

func addFolder(c *cobra.Command, folder *string) {
	c.Flags().StringVar(folder, "data-dir", "",
		"`FOLDER` of data sets (else LOCKSTEP_DATA, else the user's cache folder)")
}

func oneDataSet(c *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usagef("%s wants the name of one data set; lockstep data list shows them",
			c.CommandPath())
	}
	return nil
}
