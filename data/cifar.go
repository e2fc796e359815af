package data

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"lockstep/internal/regular"
	"lockstep/tensor"
)

// CIFAR-10's binary version (Krizhevsky 2009): files of 10,000 records, each one label byte and
// three planes of 32x32 bytes, red, green, blue.
const (
	cifarSide     = 32
	cifarPlane    = cifarSide * cifarSide
	cifarRecord   = 1 + 3*cifarPlane
	cifarRecords  = 10_000
	cifarArchive  = "cifar-10-binary.tar.gz"
	cifarFolder   = "cifar-10-batches-bin"
	cifarUnpacked = 256 << 20 // an archive that unpacks to more is not CIFAR-10
	stampBytes    = 40        // of what keptArchive says of an archive: its size and its time
)

func cifar10Source() source {
	return source{
		Info: Info{
			Name: "cifar10", Text: "CIFAR-10, 50,000 + 10,000 photographs in 10 classes, 32x32 RGB",
			Files: []File{{
				Path: cifarArchive, URL: "https://www.cs.toronto.edu/~kriz/" + cifarArchive,
				SHA256: "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
				Bytes:  170_052_171,
			}},
		},
		wants:   []string{cifarArchive + " (or its unpacked folder " + cifarFolder + ")"},
		locate:  locateCIFAR10,
		members: inFolder(cifarFiles()),
		lacks: func(folder string) string {
			return cmp.Or(lacking(filepath.Join(folder, cifarFolder), cifarFiles(), hasFile),
				lacking(folder, cifarFiles(), hasFile))
		},
		read:    pair(readCIFAR10),
		prepare: prepareCIFAR10,
	}
}

// cifarFiles returns the names of the batch files, the test batch last.
func cifarFiles() []string {
	return []string{"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
		"data_batch_4.bin", "data_batch_5.bin", "test_batch.bin"}
}

// locateCIFAR10 returns the unpacked folder if it is complete, else the archive: reading takes 0.2
// s from the folder and 1.4 s from the archive, nearly all of it for decompression. So what an archive held
// is kept; see openKept.
func locateCIFAR10(folder string) string {
	for _, dir := range []string{filepath.Join(folder, cifarFolder), folder} {
		if hasFiles(dir, cifarFiles()) {
			return dir
		}
	}
	if archive := filepath.Join(folder, cifarArchive); isFile(archive) {
		return archive
	}
	return ""
}

func hasFiles(dir string, names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return !hasFile(dir, name) })
}

func hasFile(dir, name string) bool { return isFile(filepath.Join(dir, name)) }

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// cifar10 is the data set while it is read.
type cifar10 struct {
	records     int    // in each file
	all         []byte // the pixels of all files, the test batch last, a byte for each label, and a stamp
	labels      []int32
	train, test *Set // parts of them
	seen        map[string]bool
}

// newCIFAR10 returns the set for files of that many records each.
func newCIFAR10(source string, records int) *cifar10 {
	return &cifar10{records: records, seen: map[string]bool{},
		train: newCIFAR10Set(source, 5*records), test: newCIFAR10Set(source, records)}
}

// allocate makes room for all pixels and labels, when the first of them are read.
func (c *cifar10) allocate() {
	if c.all != nil {
		return
	}
	n, pixels := 5*c.records, 5*c.records*3*cifarPlane
	c.labels, c.all = make([]int32, 6*c.records), make([]byte, 6*c.records*cifarRecord+stampBytes)
	c.train.Labels, c.test.Labels = c.labels[:n:n], c.labels[n:]
	c.train.Pixels, c.test.Pixels = c.all[:pixels:pixels], c.all[pixels:][:pixels/5:pixels/5]
}

// fileBytes returns the size of each batch file.
func (c *cifar10) fileBytes() int64 { return int64(c.records) * cifarRecord }

func readCIFAR10(ctx context.Context, path string, o Options) (train, test *Set, err error) {
	c := newCIFAR10(path, cifarRecords)
	if isFile(path) {
		kept, stamp := keptArchive(path, o)
		err = c.openKept(ctx, path, kept, stamp)
	} else {
		err = c.readFolder(ctx, path)
	}
	return c.train, c.test, err
}

// keptArchive returns the file below o.Cache that keeps what an archive held, under a hash of its path, and
// the stamp behind it; "" if there is none.
func keptArchive(path string, o Options) (kept string, stamp []byte) {
	info, err := os.Stat(path)
	if err != nil || o.Cache == "" || !info.Mode().IsRegular() {
		return "", nil
	}
	whole, _ := filepath.Abs(path) // "" where there is no working folder
	stamp = fmt.Appendf(nil, "%20d%20d", info.Size(), info.ModTime().UnixNano())
	return filepath.Join(o.Cache, "folders", fmt.Sprintf("%x.cifar", sha256.Sum256([]byte(whole)))), stamp
}

// isKept reports whether a file has the size of what is kept of an archive, and its stamp.
func isKept(path string, stamp []byte) bool {
	f, err := regular.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()                               // only read
	end := make([]byte, stampBytes+sha256.Size+1) // with a byte that there should not be
	n, _ := f.ReadAt(end, 6*cifarRecords*cifarRecord)
	return n == len(end)-1 && bytes.HasPrefix(end, stamp)
}

// prepareCIFAR10 unpacks an archive once, before several workers read what is kept of it. First it keeps
// nothing, to see whether it can: if not, each worker has to unpack the archive.
func prepareCIFAR10(ctx context.Context, path string, o Options) (err error) {
	if kept, stamp := keptArchive(path, o); kept != "" && !isKept(kept, stamp) && writePixels(kept, nil) {
		_, _, err = readCIFAR10(ctx, path, o)
	}
	return err
}

// openKept reads what an archive held from the file kept or, if that is not of it, damaged or "", from the
// archive, and keeps it as the pixels of a folder's images are kept.
func (c *cifar10) openKept(ctx context.Context, archive, kept string, stamp []byte) error {
	if isKept(kept, stamp) {
		if c.allocate(); readPixels(kept, c.all) {
			for i := range c.labels {
				c.labels[i] = int32(c.all[len(c.labels)*3*cifarPlane+i])
			}
			return nil
		}
	}
	if err := c.openArchive(ctx, archive); err != nil {
		return err
	}
	for i, label := range c.labels {
		c.all[len(c.labels)*3*cifarPlane+i] = byte(label)
	}
	copy(c.all[len(c.all)-stampBytes:], stamp)
	writePixels(kept, c.all)
	return nil
}

func newCIFAR10Set(source string, n int) *Set {
	return &Set{
		Name:  "cifar10",
		Shape: tensor.Shape{cifarSide, cifarSide, 3},
		Classes: []string{"airplane", "automobile", "bird", "cat", "deer",
			"dog", "frog", "horse", "ship", "truck"},
		Labels:  make([]int32, n),
		Mean:    []float32{0.4914, 0.4822, 0.4465},
		Std:     []float32{0.2470, 0.2435, 0.2616},
		Augment: Augmentation{Pad: 4, Flip: true},
		Source:  source,
	}
}

// place returns the destination of the records of a batch file.
func (c *cifar10) place(name string) (pixels []byte, labels []int32) {
	c.allocate()
	i := slices.Index(cifarFiles(), name)
	lo, hi := i*c.records, (i+1)*c.records
	return c.all[lo*3*cifarPlane : hi*3*cifarPlane], c.labels[lo:hi]
}

func (c *cifar10) readFolder(ctx context.Context, dir string) error {
	for _, name := range cifarFiles() {
		if err := c.checkSize(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	for _, name := range cifarFiles() {
		if err := c.readFile(ctx, filepath.Join(dir, name), name); err != nil {
			return err
		}
	}
	return nil
}

// checkSize refuses a batch file of the wrong size before anything is read.
func (c *cifar10) checkSize(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil || !info.Mode().IsRegular():
		return nil // reading it will return the error
	case info.Size() < c.fileBytes():
		return readError(io.ErrUnexpectedEOF, path, info.Size(),
			fmt.Sprintf("ends in record %d, want %d records", info.Size()/cifarRecord, c.records))
	case info.Size() > c.fileBytes():
		return &FormatError{File: path, Offset: c.fileBytes(), Reason: "more bytes than there should be"}
	}
	return nil
}

func (c *cifar10) readFile(ctx context.Context, path, name string) error {
	f, err := regular.Open(path)
	if err != nil {
		return &ReadError{File: path, Err: err}
	}
	defer f.Close()
	pixels, labels := c.place(name)
	return decodeCIFAR(&contextReader{ctx, f}, path, pixels, labels)
}

func (c *cifar10) openArchive(ctx context.Context, file string) error {
	f, err := regular.Open(file)
	if err != nil {
		return &ReadError{File: file, Err: err}
	}
	defer f.Close()
	return c.readArchive(&contextReader{ctx, f}, file)
}

// readArchive reads the batch files from the archive, in any order. Other members are skipped; the
// whole archive is read, so that gzip's checksum is verified. file names r in errors.
func (c *cifar10) readArchive(r io.Reader, file string) error {
	unzipped, err := gzip.NewReader(r)
	if err != nil {
		return readError(err, file, 0, "not a gzip file")
	}
	bounded := &boundedReader{r: unzipped, left: cifarUnpacked}
	members := tar.NewReader(bounded)
	for {
		h, err := members.Next()
		if err == io.EOF {
			break
		} else if err != nil {
			return readError(err, file, bounded.read, "damaged archive")
		}
		if err := c.readMember(h, members, file); err != nil {
			return err
		}
	}
	if _, err := io.Copy(io.Discard, bounded); err != nil {
		return readError(err, file, bounded.read, "damaged archive")
	}
	for _, name := range cifarFiles() {
		if !c.seen[name] {
			return &FormatError{File: file, Offset: bounded.read,
				Reason: fmt.Sprintf("no member %s/%s", cifarFolder, name)}
		}
	}
	return nil
}

// readMember reads one member of the archive if it is a batch file.
func (c *cifar10) readMember(h *tar.Header, r io.Reader, file string) error {
	dir, name := path.Split(path.Clean(h.Name))
	if dir != cifarFolder+"/" || !slices.Contains(cifarFiles(), name) {
		return nil
	}
	member := file + ":" + h.Name
	switch {
	case c.seen[name]:
		return &FormatError{File: member, Offset: 0, Reason: "second member of this name"}
	case h.Typeflag != tar.TypeReg:
		return &FormatError{File: member, Offset: 0, Reason: "not a regular file"}
	case h.Size != c.fileBytes():
		return &FormatError{File: member, Offset: min(h.Size, c.fileBytes()),
			Reason: fmt.Sprintf("%d bytes, want %d", h.Size, c.fileBytes())}
	}
	c.seen[name] = true
	pixels, labels := c.place(name)
	return decodeCIFAR(r, member, pixels, labels)
}

// decodeCIFAR reads exactly len(labels) records and then the end of r. It converts planes to
// interleaved pixels: pixels is [N, H, W, C]. file names r in errors.
func decodeCIFAR(r io.Reader, file string, pixels []byte, labels []int32) error {
	const numAtOnce = 64
	buf := make([]byte, numAtOnce*cifarRecord)
	for done := 0; done < len(labels); {
		n := min(numAtOnce, len(labels)-done)
		got, err := io.ReadFull(r, buf[:n*cifarRecord])
		at := int64(done)*cifarRecord + int64(got)
		if err != nil {
			return readError(err, file, at,
				fmt.Sprintf("ends in record %d, want %d records", at/cifarRecord, len(labels)))
		}
		for i := range n {
			record := buf[i*cifarRecord : (i+1)*cifarRecord]
			if record[0] > 9 {
				return &FormatError{File: file, Offset: int64(done+i) * cifarRecord,
					Reason: fmt.Sprintf("label %d in record %d, want 0 to 9", record[0], done+i)}
			}
			labels[done+i] = int32(record[0])
			interleave(pixels[(done+i)*3*cifarPlane:][:3*cifarPlane], record[1:])
		}
		done += n
	}
	return expectEnd(r, file, int64(len(labels))*cifarRecord)
}

// interleave converts planes [3, P] to pixels [P, 3].
func interleave(dst, planes []byte) {
	red, green, blue := planes[:cifarPlane], planes[cifarPlane:2*cifarPlane], planes[2*cifarPlane:]
	for i := range cifarPlane {
		p := dst[3*i : 3*i+3 : 3*i+3]
		p[0], p[1], p[2] = red[i], green[i], blue[i]
	}
}

// expectEnd fails unless r is at its end, which is byte at.
func expectEnd(r io.Reader, file string, at int64) error {
	var one [1]byte
	switch n, err := io.ReadFull(r, one[:]); {
	case n > 0:
		return &FormatError{File: file, Offset: at, Reason: "more bytes than there should be"}
	case err != io.EOF:
		return readError(err, file, at, "damaged end")
	}
	return nil
}

// readError returns the error for a failed read of file at a byte: disk errors and cancellation are
// passed on, anything else is a *FormatError.
func readError(err error, file string, at int64, reason string) error {
	var disk *fs.PathError
	switch {
	case errors.As(err, &disk):
		return &ReadError{File: file, Err: err}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("data: read %s: %w", file, err)
	case err == io.EOF && at == 0:
		return &FormatError{File: file, Offset: 0, Reason: "empty"}
	case err == io.EOF, err == io.ErrUnexpectedEOF:
		return &FormatError{File: file, Offset: at, Reason: "truncated: " + reason, Err: nil}
	}
	return &FormatError{File: file, Offset: at, Reason: reason, Err: err}
}

// contextReader returns the context's error once the context is done.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c *contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// boundedReader fails after left bytes, and counts what was read.
type boundedReader struct {
	r          io.Reader
	read, left int64
}

func (b *boundedReader) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, fmt.Errorf("unpacks to more than %d bytes", b.read)
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	b.read += int64(n)
	b.left -= int64(n)
	return n, err
}
