package data

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"lockstep/data/table"
	"lockstep/data/wordpiece"
	"lockstep/tensor"
)

// Options says where data sets are and how to generate others. The zero value generates with
// defaults and finds no files.
type Options struct {
	// Dir is the folder that the user named. If set, it is the only folder searched, and downloads
	// go there if it exists.
	Dir string
	// Shared is the folder from the environment, searched before Cache.
	Shared string
	// Cache is the user's cache folder for data, created when needed; downloads go there.
	Cache string
	// Offline forbids downloads.
	Offline bool
	// Progress is called about ten times a second during a download, from the goroutine that called
	// Load. It may be nil.
	Progress func(Progress)

	// Seed determines a generated set. It is independent of the seed of training: keep it 0 to have
	// the same set in every run.
	Seed uint64
	// TrainSize and TestSize are the sizes of a generated set; 0 means the set's own default.
	TrainSize, TestSize int
	// MaxTrain and MaxTest limit a generated set to its first samples, which are the same as
	// without a limit. 0 or less means no limit.
	MaxTrain, MaxTest int
	// Shape is the shape of a sample of a synthetic set: [H, W, C] of an image, [T] of a text of T
	// tokens; nil means [32, 32, 3].
	Shape tensor.Shape
	// NumClasses is the number of classes of a synthetic set; 0 means 10, at most 65,536.
	NumClasses int

	// Vocabulary is the path of the WordPiece vocabulary of texts, vocab.txt or tokenizer.json; "" means
	// bert-base-uncased/vocab.txt in one of the folders or, without it, one made of the training texts.
	Vocabulary string
	// Tokenizer is the vocabulary in place of a file; nil: there is one.
	Tokenizer *wordpiece.Tokenizer
	// MaxTokens is the maximum length of a text, beyond which it is truncated; 0 means 512.
	MaxTokens int
	// TextColumn and LabelColumn are the names, or numbers from 1, of the columns of a file of
	// texts; "" means one of the usual names.
	TextColumn, LabelColumn string
	// PairColumn is the column of the second text if samples are pairs of texts, else "".
	PairColumn string
	// WeightColumn is the column of the weights of training samples, see Set.Weights; "": there is none.
	WeightColumn string
	// Regression means that labels are numbers to predict, not classes: a column of tables and texts, of
	// arrays [N] or [N, K].
	Regression bool
	// Validation is the path of the validation part of a path's data, of the same kind; "": what the data has
	// itself. With it, as with a part of the data, no training samples are held out for the test.
	Validation string
	// Side is the height and width to which images of a folder are scaled; 0 means 32.
	Side int
	// InMemory is how many bytes of a path's samples are read into memory; more are read from their files
	// when they are needed, those of tables and texts from a temporary file in Cache. 0 means 1 GiB of
	// arrays, tar files and tables, and any number of a folder's images and of texts.
	InMemory int64
	// Uncut means that images of a path are decoded when they are read, however few there are, so that
	// parts of them can be cut as their files have them.
	Uncut bool
	// Table says what the columns of a table mean to the weights that are used; nil: its training samples do.
	Table *table.Table
	// SkipBad is how many images of a path may be left out because they cannot be decoded. If it is not 0,
	// all are decoded once to find them, and Cache keeps which they are.
	SkipBad int
	// EvalOnly means that the samples are scored and not trained on: those of a path without a test part
	// are then all scored.
	EvalOnly bool
}

// Progress is the state of a download.
type Progress struct {
	// File is the name of the file.
	File string
	// Done and Total are bytes; Total is -1 if the server does not say.
	Done, Total int64
}

// Info describes a data set.
type Info struct {
	// Name is the name for Load.
	Name string
	// Text is a description of one line.
	Text string
	// Generated means that the set needs no files.
	Generated bool
	// Files are the files to download; empty for a generated set.
	Files []File
}

// File is a file that can be downloaded.
type File struct {
	// Path is its path below a data folder, with slashes.
	Path string
	// URL is its address.
	URL string
	// SHA256 is its checksum, 64 hexadecimal digits.
	SHA256 string
	// Bytes is its size.
	Bytes int64
}

// source is a data set of a Catalog.
type source struct {
	Info
	// kind is what the samples are.
	kind Kind
	// wants describes what to put into a folder.
	wants []string
	// path is the path of the set if its name is one; then kind and the fields below, except read,
	// are unused.
	path string
	// locate returns the path of the set in folder, or "".
	locate func(folder string) string
	// members lists the files of the set in the folder that locate returned.
	members func(dir string) []string
	// lacks names the missing files of a folder that has others of the set, else "".
	lacks func(folder string) string
	// read loads the set from the path that locate returned.
	read func(ctx context.Context, path string, o Options) (Sets, error)
	// prepare does work that several workers should not do at once; it may be nil.
	prepare func(ctx context.Context, path string, o Options) error
	// load generates or reads a set of the calling program; nil for those of this package.
	load LoadFunc
	// generate generates the set; nil unless Generated.
	generate func(ctx context.Context, o Options) (train, test *Set, err error)
}

// folders returns the folders to search, in order.
func (o Options) folders() []string {
	var folders []string
	for _, f := range []string{o.Dir, o.Shared, o.Cache} {
		if f != "" && (o.Dir == "" || f == o.Dir) {
			folders = append(folders, f)
		}
	}
	return folders
}

// target returns the folder that downloads go to.
func (o Options) target() string {
	return cmp.Or(o.Dir, o.Cache)
}

// search returns the path of the set, or "" if it is in none of the folders.
func (s source) search(o Options) string {
	if s.path != "" {
		return s.path
	}
	for _, folder := range o.folders() {
		if path := s.locate(folder); path != "" {
			return path
		}
	}
	return ""
}

// obtain returns the path of the set, after a download if necessary.
func (s source) obtain(ctx context.Context, o Options) (string, error) {
	if path := s.search(o); path != "" {
		return path, nil
	}
	target := o.target()
	missing := &MissingError{Set: s.Name, Files: s.wants, Searched: o.folders(), Folder: target,
		Command: s.command(target)}
	if o.Dir != "" {
		info, err := os.Stat(o.Dir)
		if err == nil && !info.IsDir() {
			err = &fs.PathError{Op: "open", Path: o.Dir, Err: syscall.ENOTDIR}
		}
		if err != nil {
			missing.FolderErr = err
			return "", missing
		}
	}
	err := s.download(ctx, target, o)
	if err == nil {
		if path := s.locate(target); path != "" {
			return path, nil
		}
	}
	if ctx.Err() != nil {
		return "", fmt.Errorf("data: download of %s: %w", s.Name, ctx.Err())
	}
	missing.Err, missing.Incomplete = err, s.incomplete(o)
	return "", missing
}

// incomplete describes what is missing in the first folder that has a part of the set, or returns
// "".
func (s source) incomplete(o Options) string {
	for _, folder := range o.folders() {
		if lack := s.lacks(folder); lack != "" {
			return lack
		}
	}
	return ""
}

// lacking names the files missing in dir if it has some of them, else "".
func lacking(dir string, files []string, has func(dir, name string) bool) string {
	missing := slices.DeleteFunc(slices.Clone(files), func(name string) bool { return has(dir, name) })
	if len(missing) == 0 || len(missing) == len(files) {
		return ""
	}
	return fmt.Sprintf("%s has no file %s", dir, strings.Join(missing, ", "))
}

// download downloads the files of the set to folder. It returns nil without a download if o forbids
// it or there is no folder.
func (s source) download(ctx context.Context, folder string, o Options) error {
	if o.Offline || folder == "" {
		return nil
	}
	f := newFetcher(o.Progress)
	defer f.close()
	for _, file := range s.Files {
		if err := f.fetch(ctx, folder, file); err != nil {
			return err
		}
	}
	return nil
}

// command returns the command that downloads the set.
func (s source) command(folder string) string {
	if len(s.Files) == 0 {
		return ""
	}
	return fmt.Sprintf("lockstep data download %s --data-dir %s", s.Name, cmp.Or(folder, "DIR"))
}
