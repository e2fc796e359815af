package data

import (
	"archive/tar"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"lockstep/internal/regular"
	"lockstep/tensor"
)

// Note: shards
//
// A shard is a tar file in the manner of WebDataset: members in a row whose names agree up to the first point
// after the last slash are one sample, such as 000017.jpg and 000017.cls. An image ends in .jpg, .jpeg, .png
// or .webp; .cls has its class, by number or by name. Other members are left out. Shards lie in a folder,
// where the name of one begins with that of its part, as train-000003.tar does, or in folders train, val and
// test; shards that name no part are of the first. Of numbered shards none may be missing between the first
// and the last. How many there should be only a path with braces says: train-{000000..000009}.tar is those
// ten, in a folder's place.

// maxClassText bounds the bytes of a .cls.
const maxClassText = 256

// maxShards bounds the shards of a part.
const maxShards = 1 << 18

// braced returns the paths that one with braces stands for, of too many the first ones; none of another path.
func braced(path string) (paths []string) {
	found := regexp.MustCompile(`^([^{}]*)\{([0-9]{1,9})\.\.([0-9]{1,9})\}([^{}]*)$`).FindStringSubmatch(path)
	if found == nil {
		return nil
	}
	first, _ := strconv.Atoi(found[2])
	last, _ := strconv.Atoi(found[3])
	for n := first; n <= min(last, first+maxShards); n++ {
		paths = append(paths, fmt.Sprintf("%s%0*d%s", found[1], len(found[2]), n, found[4]))
	}
	return paths
}

// shardPaths returns the shards of each part at path; none if there are none.
func shardPaths(path string) (parts [numParts][]string) {
	if paths := braced(path); paths != nil && strings.EqualFold(filepath.Ext(path), ".tar") {
		parts[trainPart] = paths
		return parts
	}
	if !isFolder(path) {
		if strings.EqualFold(filepath.Ext(path), ".tar") {
			parts[trainPart] = []string{path}
		}
		return parts
	}
	for _, shard := range filesOf(path, ".tar") {
		words := strings.FieldsFunc(strings.ToLower(filepath.Base(shard)), func(r rune) bool {
			return r < 'a' || r > 'z'
		})
		part := max(0, partOfName(words[0]))
		parts[part] = append(parts[part], shard)
	}
	entries, _ := os.ReadDir(path)
	for _, e := range entries {
		if part := partOfName(strings.ToLower(e.Name())); part >= 0 {
			parts[part] = append(parts[part], filesOf(filepath.Join(path, e.Name()), ".tar")...)
		}
	}
	return parts
}

// partOfName returns the part with this name, or -1.
func partOfName(name string) int {
	names := partNames()
	return slices.IndexFunc(names[:], func(some []string) bool { return slices.Contains(some, name) })
}

// isShardPath reports whether there are shards at path.
func isShardPath(path string) bool {
	parts := shardPaths(path)
	return slices.ContainsFunc(parts[:], func(paths []string) bool { return len(paths) > 0 })
}

// readShards reads a set from tar files. Images are decoded when they are read if, decoded, they take more
// than o.InMemory.
func readShards(ctx context.Context, root string, o Options) (s Sets, err error) {
	side, parts := sizeOr(o.Side, defaultSide), shardPaths(root)
	if len(parts[trainPart]) == 0 && o.EvalOnly {
		for _, part := range []int{testPart, validationPart} {
			if len(parts[trainPart]) == 0 {
				parts[trainPart], parts[part] = parts[part], nil
			}
		}
	}
	if len(parts[trainPart]) == 0 {
		return s, folderFault(root, "call them train-000000.tar and so on", "no shard to train on")
	}
	own := ""
	if err := o.addValidation(root, len(parts[validationPart]) > 0, &own); err != nil {
		return s, err
	}
	if own != "" {
		files := shardPaths(own)
		if parts[validationPart] = slices.Concat(files[:]...); len(parts[validationPart]) == 0 {
			return s, folderFault(own, "name a .tar or a folder with some", "no shard to validate with")
		}
	}
	var labels [numParts][]string
	var left leftOut
	for i, to := range []**Set{trainPart: &s.Train, validationPart: &s.Validation, testPart: &s.Test} {
		if len(parts[i]) == 0 {
			continue
		}
		images := &shardImages{decoders: decoders{side: side}}
		if labels[i], err = images.list(ctx, parts[i], &left); err != nil {
			return s, err
		}
		if o.SkipBad > 0 {
			if labels[i], err = images.skipBad(ctx, o, labels[i], &left); err != nil {
				return s, err
			}
		}
		*to = &Set{Name: root, Source: root, Shape: tensor.Shape{side, side, 3}, Samples: images,
			byNumber: true}
		(*to).normalizeAsUsual()
	}
	names, err := readClassNames(filepath.Join(filepath.Dir(parts[trainPart][0]), "classes.txt"))
	if err != nil {
		return s, err
	}
	if err := s.label(root, names, labels, o.EvalOnly); err != nil {
		return s, err
	}
	s.LeftOut = left.String()
	if s.holdOut(o.EvalOnly); o.Uncut {
		return s, nil
	}
	err = s.bringIntoMemory(ctx, o)
	return s, err
}

// label gives the samples of each part the classes that are written beside them: numbers, or else names,
// which are those of the first part, or of all if isScored, in order.
func (s *Sets) label(root string, names []string, labels [numParts][]string, isScored bool) error {
	areNumbers := !slices.ContainsFunc(slices.Concat(labels[:]...), func(text string) bool {
		n, err := strconv.Atoi(text)
		return err != nil || n < 0 || n >= maxClasses
	})
	if !areNumbers && names == nil {
		named := labels[:1]
		if isScored {
			named = labels[:]
		}
		names = slices.Concat(named...)
		slices.Sort(names)
		names = slices.Compact(names)
	}
	for i, set := range []*Set{trainPart: s.Train, validationPart: s.Validation, testPart: s.Test} {
		if set == nil {
			continue
		}
		for k, text := range labels[i] {
			class, _ := strconv.Atoi(text)
			if !areNumbers {
				class = slices.Index(names, text)
			}
			if class < 0 || len(names) > maxClasses {
				return folderFault(root, "correct it, or name all classes in classes.txt",
					"sample %d of a part has class %.60q, which is none of %d", k, text, len(names))
			}
			set.Labels = append(set.Labels, int32(class))
		}
	}
	return nameClasses(root, names, isScored, s.All())
}

// list opens the shards and finds their images. It returns the class of each.
func (s *shardImages) list(ctx context.Context, paths []string, left *leftOut) (labels []string, err error) {
	if len(paths) > maxShards {
		return nil, folderFault(paths[0], "put more samples into each", "more than %d shards", maxShards)
	}
	if err := findGap(paths); err != nil {
		return nil, err
	}
	for _, path := range paths {
		file, err := regular.Open(path)
		if err != nil {
			return nil, &ReadError{File: path, Err: err}
		}
		shard := &openShard{file: file}
		if shard.size, shard.modified, err = regular.Stamp(file); err != nil {
			return nil, &ReadError{File: path, Err: err}
		}
		s.shards = append(s.shards, shard)
		found, err := s.listOne(ctx, file, left)
		if err != nil {
			return nil, err
		}
		labels = append(labels, found...)
	}
	return labels, nil
}

// findGap refuses numbered shards of which one is missing between two others.
func findGap(paths []string) error {
	type series struct {
		prefix string
		digits int
	}
	number := regexp.MustCompile(`^(.*?)([0-9]{1,9})\.tar$`)
	last := map[series]int{}
	for _, path := range paths {
		found := number.FindStringSubmatch(path)
		if found == nil {
			continue
		}
		n, _ := strconv.Atoi(found[2])
		of := series{found[1], len(found[2])}
		if before, isOther := last[of]; isOther && n != before+1 {
			return folderFault(path, "fetch the missing shards, or number those there are without a gap",
				"there is no shard of number %d before it", n-1)
		}
		last[of] = n
	}
	return nil
}

// pending is a sample of a shard whose members are being read.
type pending struct {
	key, label string
	image      shardEntry // none of size 0
	hasLabel   bool
}

// listOne finds the images of the last shard.
func (s *shardImages) listOne(ctx context.Context, file *os.File, left *leftOut) (labels []string,
	err error) {
	var p pending
	finish := func() error {
		switch {
		case p.image.size == 0 && !p.hasLabel:
			return nil
		case p.image.size == 0 || !p.hasLabel:
			return &FormatError{File: file.Name() + ":" + p.key, Offset: -1,
				Next:   "write both, one after the other",
				Reason: "an image without .cls, or .cls without an image"}
		}
		s.entries, labels = append(s.entries, p.image), append(labels, p.label)
		return nil
	}
	for r := tar.NewReader(&contextSeeker{ctx, file}); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		} else if err != nil {
			return nil, readError(err, file.Name(), -1, "damaged archive")
		}
		if h.Typeflag != tar.TypeReg || isHidden(path.Base(h.Name)) {
			continue
		}
		key, ending, _ := strings.Cut(path.Base(h.Name), ".")
		if key = path.Dir(h.Name) + "/" + key; key != p.key {
			if err := finish(); err != nil {
				return nil, err
			}
			p = pending{key: key}
		}
		if err := s.member(&p, r, h, file, strings.ToLower(ending), left); err != nil {
			return nil, err
		}
	}
	if err := finish(); err != nil {
		return nil, err
	}
	if labels == nil {
		return nil, &FormatError{File: file.Name(), Offset: -1, Reason: "no sample in it",
			Next: "write images with their classes, such as 0.jpg and 0.cls"}
	}
	return labels, nil
}

// member adds a member of a shard to the sample that it belongs to.
func (s *shardImages) member(p *pending, r io.Reader, h *tar.Header, file *os.File, ending string,
	left *leftOut) error {
	refuse := func(reason string) error {
		return &FormatError{File: file.Name() + ":" + h.Name, Offset: -1, Reason: reason}
	}
	switch {
	case ending == "cls":
		text, err := io.ReadAll(io.LimitReader(r, maxClassText+1))
		if err != nil {
			return readError(err, file.Name()+":"+h.Name, -1, "damaged archive")
		}
		p.label = strings.TrimSpace(string(text))
		if p.label == "" || len(text) > maxClassText || p.hasLabel {
			return refuse("want one class of 1 to 256 bytes")
		}
		p.hasLabel = true
	case slices.Contains([]string{"jpg", "jpeg", "png", "webp"}, ending):
		if p.image.size > 0 {
			return refuse("a second image of one sample")
		}
		at, err := file.Seek(0, io.SeekCurrent) // a tar.Reader reads no further than the header
		if err != nil {
			return &ReadError{File: file.Name(), Err: err}
		}
		if h.Size < 1 || h.Size > math.MaxInt32 || h.PAXRecords["GNU.sparse.major"] != "" {
			return refuse("an image that is empty, sparse or larger than 2 GiB")
		}
		if at+h.Size > s.shards[len(s.shards)-1].size {
			return refuse("damaged archive: it ends in this image")
		}
		p.image = shardEntry{at, int32(len(s.shards) - 1), int32(h.Size)}
	default:
		left.leave(cmp.Or(h.Name, "?"))
	}
	return nil
}

// contextSeeker is a file whose reads fail when ctx has ended.
type contextSeeker struct {
	ctx context.Context
	*os.File
}

func (c *contextSeeker) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, errors.Join(err)
	}
	return c.File.Read(p)
}
