package data

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"lockstep/internal/spelling"
)

// Catalog is a set of named data sets: those of this package and, added by With, those of the
// calling program. The zero value has those of this package. A Catalog is immutable.
type Catalog struct{ own []source }

// LoadFunc generates or reads a data set of the calling program. It is called in every worker
// process and must return the same samples in each. A nil test set means no evaluation.
type LoadFunc func(context.Context, Options) (train, test *Set, err error)

// With returns a catalog that also has the data set called name. It returns an error if the name is
// taken or invalid.
func (c Catalog) With(name string, load LoadFunc) (Catalog, error) {
	if err := spelling.CheckName(name, c.Names()); err != nil {
		return c, fmt.Errorf("data: %w", err)
	}
	if load == nil {
		return c, fmt.Errorf("data: %s: no function that loads it", name)
	}
	own := source{Info: Info{Name: name, Text: "of this program"}, kind: AnyKind, load: load}
	return Catalog{append(slices.Clip(c.own), own)}, nil
}

// Names returns the names that Load accepts, the default first.
func (c Catalog) Names() []string {
	var names []string
	for _, s := range c.all() {
		names = append(names, s.Name)
	}
	return names
}

// List describes all data sets, in the order of Names.
func (c Catalog) List() []Info {
	var list []Info
	for _, s := range c.all() {
		list = append(list, s.Info)
	}
	return list
}

// Load reads or generates the named data set. If it is not found, it is downloaded if o allows
// that. The name may also be the path of a user's own data, see [IsPath].
//
// Errors: *UnknownError, *MissingError, *FormatError, *ReadError, ctx's error, or *OwnError for a set of
// the calling program. The sets share memory with nothing else.
func (c Catalog) Load(ctx context.Context, name string, o Options) (Sets, error) {
	s, err := c.find(name)
	if err != nil {
		return Sets{}, err
	}
	if o.Validation != "" && s.path == "" {
		return Sets{}, fmt.Errorf("data: %s has parts of its own, which %s is none of", name, o.Validation)
	}
	sets, err := s.obtainSets(ctx, o)
	if err != nil {
		return Sets{}, err
	}
	for _, set := range sets.All() {
		if err := set.Check(); err != nil && s.load != nil {
			return Sets{}, &OwnError{s.Name, err}
		} else if err != nil {
			return Sets{}, err
		}
	}
	return sets, nil
}

// obtainSets generates, or finds and reads, the sets.
func (s source) obtainSets(ctx context.Context, o Options) (Sets, error) {
	switch {
	case s.load != nil:
		return s.loadOwn(ctx, o)
	case s.Generated:
		train, test, err := s.generate(ctx, o)
		return Sets{Train: train, Test: test}, err
	}
	path, err := s.obtain(ctx, o)
	if err != nil {
		return Sets{}, err
	}
	return s.read(ctx, path, o)
}

// pair makes a function that reads two parts one that reads Sets.
func pair(read func(ctx context.Context, path string, o Options) (train, test *Set, err error)) func(
	context.Context, string, Options) (Sets, error) {
	return func(ctx context.Context, path string, o Options) (Sets, error) {
		train, test, err := read(ctx, path, o)
		return Sets{Train: train, Test: test}, err
	}
}

// loadOwn calls the LoadFunc of the calling program.
func (s source) loadOwn(ctx context.Context, o Options) (sets Sets, err error) {
	sets.Train, sets.Test, err = s.load(ctx, o)
	switch {
	case err != nil && ctx.Err() != nil:
		return Sets{}, err // it was interrupted
	case err != nil:
		return Sets{}, &OwnError{s.Name, err}
	case sets.Train == nil:
		return Sets{}, &OwnError{s.Name, errors.New("its function returned no training set")}
	}
	return sets, nil
}

// Locate returns the path of the named data set, or "" if it is not found or has no files. It reads
// only folders.
func (c Catalog) Locate(name string, o Options) (path string, err error) {
	s, err := c.find(name)
	if err != nil || s.isMade() {
		return "", err
	}
	return s.search(o), nil
}

// Fetch makes sure that the named data set is present, downloading it if necessary, and returns its
// path, or "" if it has no files. A launcher calls it before it starts several workers, so that
// they do not download, or decode a folder of images or an archive, all at once.
func (c Catalog) Fetch(ctx context.Context, name string, o Options) (path string, err error) {
	s, err := c.find(name)
	if err != nil || s.isMade() {
		return "", err
	}
	if path, err = s.obtain(ctx, o); err == nil && s.prepare != nil {
		err = s.prepare(ctx, path, o)
	}
	return path, err
}

// IsOwn reports whether the named set is one that With added.
func (c Catalog) IsOwn(name string) bool {
	return slices.ContainsFunc(c.own, func(s source) bool { return s.Name == name })
}

// isMade reports whether the set comes from a function, not from files.
func (s source) isMade() bool { return s.Generated || s.load != nil }

// KindOf returns the kind of the samples of the named set or of the data at a path, which is to be read as o
// says. It reads folders, and the first record of a file.
func (c Catalog) KindOf(name string, o Options) Kind {
	s, err := c.find(name)
	if err != nil {
		return AnyKind
	}
	return s.kindOf(o)
}

// IsPath reports whether Load treats name as the path of the user's own data: it contains a slash,
// ends in .csv, .tsv, .jsonl, .ndjson or .npy, has a range in braces, or exists, and is not one of Names.
//
// Such a path is one of
//   - a file of texts, or of rows of numbers and categories, or a folder with one called train and others
//     called val and test;
//   - a folder with folders train, val and test, each of which holds a folder of images for each class, or a
//     folder that holds a folder for each class. Images may lie in folders below those;
//   - a file .npy of images or rows, or a folder with one for each part, and labels beside it;
//   - a tar file of images, each beside a file with its label, a folder with some for each part, or several
//     by their numbers, photos-{000000..000009}.tar.
//
// Training is also a name of the first part, valid, validation and dev of the second, testing of the third;
// case does not matter. Without the second and the third, a tenth of each class is held out for the test,
// chosen by hashes of the texts, the rows or the images' paths, not by their order; of .npy and tar files by
// hashes of the samples' numbers, which are their order. Classes are the labels of the training part in
// order, numerically if all are whole numbers, else by name, or the names of the folders in order. Folders
// whose names begin with . or __ are none. With [Options.EvalOnly] classes are those of all parts, and the
// first part may be missing.
func (c Catalog) IsPath(name string) bool {
	if slices.Contains(c.Names(), name) {
		return false
	}
	_, err := os.Stat(name)
	return strings.ContainsAny(name, `/\`) || isRecordFile(name) || isArrayPath(name) ||
		braced(name) != nil || err == nil
}

func (c Catalog) all() []source { return append(sources(), c.own...) }

func (c Catalog) find(name string) (source, error) {
	for _, s := range c.all() {
		if s.Name == name {
			return s, nil
		}
	}
	if c.IsPath(name) {
		return pathSource(name), nil
	}
	return source{}, &UnknownError{Name: name, Suggestion: spelling.Nearest(name, c.Names()),
		Known: c.Names()}
}

// sources lists the data sets of this package, the default first.
func sources() []source {
	return []source{glyphSource(), cifar10Source(), svhnSource(), svhnExtraSource(), mnistSource(),
		sst2Source(), syntheticSource()}
}

// Load is Catalog.Load for the data sets of this package and paths. It returns the training set and what
// is scored at the end; nil if there is nothing to score.
func Load(ctx context.Context, name string, o Options) (train, test *Set, err error) {
	s, err := Catalog{}.Load(ctx, name, o)
	return s.Train, s.Scored(), err
}
