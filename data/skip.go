package data

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lockstep/internal/regular"
	"lockstep/internal/spelling"
)

// Note: damaged images
//
// Which images are left out must not depend on which worker reads them, or when. So all are decoded once
// before the first run, and what cannot be is kept in the cache, under a hash of the listing: every later
// run, and every process of one, leaves out the same.

// badImage is an image that cannot be decoded.
type badImage struct {
	Number int    `json:"number"` // in the listing
	Reason string `json:"reason"`
}

// maxBadList bounds the file of a list of damaged images.
const maxBadList = 64 << 20

// findBad returns the damaged images of n, which check decodes and name names, at most o.SkipBad. key is a
// hash of the listing. Errors: that of the first damaged image if there are more, others than damage, and
// those of ctx.
func findBad(ctx context.Context, o Options, key string, n int, check func(i int) error,
	name func(i int) string) ([]badImage, error) {
	path := ""
	if o.Cache != "" {
		path = filepath.Join(o.Cache, "folders", key+".bad.json")
	}
	var bad []badImage
	text, err := regular.ReadFile(path, maxBadList)
	isKnown := path != "" && err == nil && json.Unmarshal(text, &bad) == nil
	if !isKnown {
		if bad, err = checkAll(ctx, n, check, name); err != nil {
			return nil, err
		}
		keepBad(path, bad)
	}
	if len(bad) > o.SkipBad {
		return nil, &FormatError{File: "images", Offset: -1,
			Reason: fmt.Sprintf("%s cannot be decoded, and --skip-bad leaves out at most %d: the first is %s",
				spelling.Count(len(bad), "image"), o.SkipBad, bad[0].Reason),
			Next: "repair or delete them, or allow more"}
	}
	return bad, nil
}

// faultsOf decodes n images on all cores. It returns what is wrong with each that is damaged, nil of others,
// and the first error that is no damage.
func faultsOf(ctx context.Context, n int, decode func(i int) error) ([]*FormatError, error) {
	faults := make([]*FormatError, n)
	return faults, forAll(ctx, n, func(i int) error {
		if err := decode(i); !errors.As(err, &faults[i]) {
			return err
		}
		return nil
	})
}

// checkAll decodes all images.
func checkAll(ctx context.Context, n int, check func(i int) error, name func(i int) string) (bad []badImage,
	err error) {
	faults, err := faultsOf(ctx, n, check)
	if err != nil {
		return nil, err
	}
	for i, fault := range faults {
		if fault == nil {
			continue
		}
		what := cmp.Or(fault.Reason, "damaged")
		if fault.Err != nil {
			what += ": " + fault.Err.Error()
		}
		bad = append(bad, badImage{i, name(i) + " (" + what + ")"})
	}
	return bad, nil
}

// keepBad writes a list to the cache, entirely or not at all; without it only time is lost.
func keepBad(path string, bad []badImage) {
	if path == "" || os.MkdirAll(filepath.Dir(path), 0o777) != nil {
		return
	}
	text, err := json.Marshal(bad)
	if err == nil {
		_ = regular.Write(path, text)
	}
}

// skipped describes images that were left out, in the words of a leftOut.
func skipped(bad []badImage) string {
	const most = 8
	var reasons []string
	for _, b := range bad[:min(most, len(bad))] {
		reasons = append(reasons, b.Reason)
	}
	if more := len(bad) - most; more > 0 {
		reasons = append(reasons, fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("damaged: %s: %s", spelling.Count(len(bad), "image"), strings.Join(reasons, ", "))
}

// withoutBad returns the items of a part of the data at path without those of the numbers from first on that
// are bad. It is an error if none is left.
func withoutBad[E any](path string, items []E, first int, bad []badImage) ([]E, error) {
	isBad := map[int]bool{}
	for _, b := range bad {
		isBad[b.Number-first] = true
	}
	var good []E
	for i, item := range items {
		if !isBad[i] {
			good = append(good, item)
		}
	}
	if good == nil && items != nil {
		return nil, folderFault(path, "convert them to JPEG, PNG or WebP, or repair them",
			"no image of a part is left: of %s none can be decoded; the first is %s",
			spelling.Count(len(items), "image"),
			bad[slices.IndexFunc(bad, func(b badImage) bool { return b.Number >= first })].Reason)
	}
	return good, nil
}

// skipBad takes the damaged images of a folder out of its parts.
func (f *imageFolder) skipBad(ctx context.Context, o Options) error {
	var files []imageFile
	for _, part := range f.parts {
		files = append(files, part...)
	}
	bad, err := findBad(ctx, o, f.key(), len(files), func(i int) error {
		file, err := regular.Open(files[i].path)
		if err != nil {
			return &ReadError{File: files[i].path, Err: err}
		}
		defer file.Close()
		_, _, err = decodeImage(file, files[i].path)
		return err
	}, func(i int) string { return plainName(files[i].name) })
	if err != nil || len(bad) == 0 {
		return err
	}
	first := 0
	for i, part := range f.parts {
		if f.parts[i], err = withoutBad(f.root, part, first, bad); err != nil {
			return err
		}
		first += len(part)
	}
	f.left.note(skipped(bad))
	return nil
}

// skipBad takes the damaged images of tar files out, with their labels.
func (s *shardImages) skipBad(ctx context.Context, o Options, labels []string, left *leftOut) ([]string,
	error) {
	h := sha256.New()
	for _, shard := range s.shards {
		fmt.Fprintf(h, "shard %q %d %d\n", shard.file.Name(), shard.size, shard.modified)
	}
	bad, err := findBad(ctx, o, fmt.Sprintf("%x", h.Sum(nil)), len(s.entries), func(i int) error {
		text, place, err := s.read(i, nil)
		if err == nil {
			_, _, err = decodeImage(bytes.NewReader(text[:s.entries[i].size]), place)
		}
		return err
	}, func(i int) string {
		e := s.entries[i]
		return fmt.Sprintf("byte %d of %s", e.offset, plainName(filepath.Base(s.shards[e.shard].file.Name())))
	})
	if err != nil || len(bad) == 0 {
		return labels, err
	}
	left.note(skipped(bad))
	if s.entries, err = withoutBad(s.shards[0].file.Name(), s.entries, 0, bad); err != nil {
		return nil, err
	}
	return withoutBad(s.shards[0].file.Name(), labels, 0, bad)
}
