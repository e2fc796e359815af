package data

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"lockstep/tensor"
)

// Options says where data sets lie and what generated ones are like. The zero value generates
// with defaults and finds no files.
type Options struct {
	// Dir is the folder the user named. If set, it is the only place searched, and the place to
	// download to if it exists.
	Dir string
	// Shared is the folder of the environment, searched before Cache.
	Shared string
	// Cache is the user's cache folder for data, made when needed; downloads go there.
	Cache string
	// Offline forbids downloads.
	Offline bool
	// Progress hears about a download about ten times a second; nil means nobody listens. It is
	// called from the goroutine that called Load.
	Progress func(Progress)

	// Seed draws a generated set. It is not the seed of training: leave it at 0 to have the same
	// set in every run.
	Seed uint64
	// TrainSize and TestSize are the sizes of a generated set; 0 means the set's own default.
	TrainSize, TestSize int
	// MaxTrain and MaxTest bound the sizes of a generated set: only so many first samples are made, the
	// same as without a bound. 0 and less mean no bound.
	MaxTrain, MaxTest int
	// Shape is the shape of a sample of a synthetic set: [H, W, C] of an image, [T] of a text of T
	// tokens; nil means [32, 32, 3].
	Shape tensor.Shape
	// NumClasses is the number of classes of a synthetic set; 0 means 10, at most 256.
	NumClasses int

	// Vocabulary is the WordPiece vocabulary of texts; "" means bert-base-uncased/vocab.txt in one
	// of the folders.
	Vocabulary string
	// MaxTokens is the length that longer texts are cut to; 0 means 512.
	MaxTokens int
	// TextColumn and LabelColumn name the columns of a file of texts, or number them from 1; ""
	// means that of a usual name.
	TextColumn, LabelColumn string
	// Side is the height and width that the images of a folder get; 0 means 32.
	Side int
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
	// Name is what Load takes.
	Name string
	// Text is one line on what it is.
	Text string
	// Generated means that no files are needed.
	Generated bool
	// Files are what a download fetches; empty for a generated set.
	Files []File
}

// File is a file that can be fetched.
type File struct {
	// Path is where it lies below a data folder, with slashes.
	Path string
	// URL is where it comes from.
	URL string
	// MD5 is its published checksum, 32 hexadecimal digits.
	MD5 string
	// Bytes is its size.
	Bytes int64
}

// source is a data set that Load knows.
type source struct {
	Info
	// kind is what the samples are.
	kind Kind
	// wants says in words what to put into a folder.
	wants []string
	// path is where the set lies if its name says so; then kind and the fields below but read are unused.
	path string
	// locate returns where in folder the set lies; "" if it is not there.
	locate func(folder string) string
	// lacks names the files that folder lacks if it holds others of the set; else "".
	lacks func(folder string) string
	// read loads from where locate found it.
	read func(ctx context.Context, path string, o Options) (train, test *Set, err error)
	// prepare does ahead what several workers need not do side by side; nil if there is nothing.
	prepare func(ctx context.Context, o Options) error
	// load makes or reads a set of a program's own; nil for those of this package.
	load LoadFunc
	// generate makes the set from nothing; nil unless Generated.
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
	if o.Dir != "" {
		return o.Dir
	}
	return o.Cache
}

// search returns where the set lies; "" if it is in none of the folders.
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

// obtain returns where the set lies, after a download if need be.
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

// incomplete says of the first folder that holds a part of the set what it lacks; "" if none does.
func (s source) incomplete(o Options) string {
	for _, folder := range o.folders() {
		if lack := s.lacks(folder); lack != "" {
			return lack
		}
	}
	return ""
}

// lacking says what dir lacks of files if some of them are there, else "".
func lacking(dir string, files []string, has func(dir, name string) bool) string {
	var missing []string
	for _, name := range files {
		if !has(dir, name) {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 || len(missing) == len(files) {
		return ""
	}
	return fmt.Sprintf("%s has no file %s", dir, strings.Join(missing, ", "))
}

// download fetches the files of the set into folder. It returns nil without a download if o
// forbids it or there is no folder to fill.
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

// command returns what fetches the set on a machine with a network.
func (s source) command(folder string) string {
	if len(s.Files) == 0 {
		return ""
	}
	if folder == "" {
		folder = "DIR"
	}
	return fmt.Sprintf("lockstep data download %s --data-dir %s", s.Name, folder)
}
