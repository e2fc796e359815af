package data

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"image/jpeg"
	"image/png"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"lockstep/internal/regular"
	"lockstep/tensor"
)

const (
	defaultSide = 32
	maxSide     = 1 << 12 // of an image after resizing
	// maxImageSide and maxImagePixels bound an image before it is decoded.
	maxImageSide   = 1 << 14
	maxImagePixels = 1 << 25
	maxImageSet    = 1 << 36 // bytes of pixels
)

// imageFile is a file of an image folder.
type imageFile struct {
	path  string
	class uint8
	info  fs.FileInfo
}

// imageFolder lists a folder of images by class.
type imageFolder struct {
	root        string
	side        int
	classes     []string
	train, test []imageFile
}

// readImageFolder reads PNG and JPEG files by class. Each image is cropped to its central square,
// scaled to o.Side and converted to RGB; transparent pixels are black. Decoded pixels are cached
// below o.Cache under a hash of the listing (names, sizes, modification times). A cache that is
// damaged or cannot be written costs only time.
//
// Images are normalised with the mean and standard deviation of ImageNet, as is usual for
// photographs. Classes alternate: the first image of each class, the second of each class, ...
func readImageFolder(ctx context.Context, root string, o Options) (train, test *Set, err error) {
	f := &imageFolder{root: root, side: sizeOr(o.Side, defaultSide)}
	if f.side > maxSide {
		return nil, nil, fmt.Errorf("data: %s: images of side %d, want at most %d", root, f.side, maxSide)
	}
	if err := f.list(); err != nil {
		return nil, nil, err
	}
	files := slices.Concat(f.train, f.test)
	size := f.side * f.side * 3
	if len(files) > maxImageSet/size {
		return nil, nil, folderFault(root, "choose a smaller --size",
			"%d images of side %d take more than %d GiB", len(files), f.side, maxImageSet>>30)
	}
	cache := ""
	if o.Cache != "" {
		cache = filepath.Join(o.Cache, "folders", f.key()+".rgb")
	}
	pixels := make([]byte, len(files)*size)
	if !readPixels(cache, pixels) {
		if err := f.decodeAll(ctx, files, pixels); err != nil {
			return nil, nil, err
		}
		writePixels(cache, pixels)
	}
	cut := len(f.train) * size
	return f.newSet(f.train, pixels[:cut:cut]), f.newSet(f.test, pixels[cut:]), nil
}

func (f *imageFolder) newSet(files []imageFile, pixels []byte) *Set {
	s := &Set{Name: f.root, Source: f.root, Classes: f.classes, Pixels: pixels,
		Labels: make([]uint8, len(files)), Shape: tensor.Shape{f.side, f.side, 3},
		Mean: []float32{0.485, 0.456, 0.406}, Std: []float32{0.229, 0.224, 0.225}}
	for i, file := range files {
		s.Labels[i] = file.class
	}
	return s
}

// list finds the files of both parts.
func (f *imageFolder) list() error {
	trainRoot, testRoot := filepath.Join(f.root, "train"), ""
	for _, name := range testParts() {
		if folder := filepath.Join(f.root, name); testRoot == "" && isFolder(folder) {
			testRoot = folder
		}
	}
	if !isFolder(trainRoot) || testRoot == "" {
		trainRoot, testRoot = f.root, ""
	}
	var err error
	if f.classes, err = classFolders(trainRoot); err != nil {
		return err
	}
	perClass, err := f.listPart(trainRoot)
	if err != nil {
		return err
	}
	if testRoot != "" {
		f.train = inTurns(perClass)
		if perClass, err = f.listPart(testRoot); err == nil {
			f.test = inTurns(perClass)
		}
		return err
	}
	rest := make([][]imageFile, len(perClass))
	for c, files := range perClass {
		var kept []imageFile
		for i, file := range files {
			if isTest(i) {
				rest[c] = append(rest[c], file)
			} else {
				kept = append(kept, file)
			}
		}
		perClass[c] = kept
	}
	f.train, f.test = inTurns(perClass), inTurns(rest)
	return nil
}

// classFolders returns the names of the folders in root, in order.
func classFolders(root string) ([]string, error) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, &ReadError{File: root, Err: err}
	}
	var classes []string
	for _, e := range entries {
		if isFolder(filepath.Join(root, e.Name())) && !strings.HasPrefix(e.Name(), ".") {
			classes = append(classes, e.Name())
		}
	}
	if len(classes) == 0 || len(classes) > maxClasses {
		return nil, folderFault(root, "put the images of each class into a folder of its own",
			"%d folders, want one for each class, 1 to %d", len(classes), maxClasses)
	}
	return classes, nil
}

// listPart returns the image files below root, [class][file in order of names].
func (f *imageFolder) listPart(root string) ([][]imageFile, error) {
	names, err := classFolders(root)
	if err != nil {
		return nil, err
	}
	perClass := make([][]imageFile, len(f.classes))
	total := 0
	for _, name := range names {
		folder := filepath.Join(root, name)
		class := slices.Index(f.classes, name)
		if class < 0 {
			return nil, folderFault(folder, "both parts need folders of the same names",
				"class %q is not among the training classes %s", name, strings.Join(f.classes, ", "))
		}
		entries, err := os.ReadDir(folder)
		if err != nil {
			return nil, &ReadError{File: folder, Err: err}
		}
		for _, e := range entries {
			path := filepath.Join(folder, e.Name())
			info, err := os.Stat(path)
			if err != nil {
				return nil, &ReadError{File: path, Err: err}
			}
			if isImageName(e.Name()) && info.Mode().IsRegular() {
				perClass[class] = append(perClass[class], imageFile{path, uint8(class), info})
				total++
			}
		}
	}
	if total == 0 {
		return nil, folderFault(root, "put the images of each class into its folder",
			"no .png, .jpg or .jpeg file in the folders of its classes, %s", strings.Join(names, ", "))
	}
	return perClass, nil
}

func isImageName(name string) bool {
	ext := strings.ToLower(filepath.Ext(name))
	return !strings.HasPrefix(name, ".") && (ext == ".png" || ext == ".jpg" || ext == ".jpeg")
}

// inTurns takes the first file of each class, then the second of each, and so on.
func inTurns(perClass [][]imageFile) []imageFile {
	var files []imageFile
	for i, found := 0, true; found; i++ {
		found = false
		for _, class := range perClass {
			if i < len(class) {
				files, found = append(files, class[i]), true
			}
		}
	}
	return files
}

// key returns a hash of everything that determines the pixels.
func (f *imageFolder) key() string {
	root, err := filepath.Abs(f.root)
	if err != nil {
		root = f.root
	}
	h := sha256.New()
	fmt.Fprintf(h, "images 1 %q %d %d\n", root, f.side, len(f.train))
	for _, files := range [][]imageFile{f.train, f.test} {
		for _, file := range files {
			fmt.Fprintf(h, "%q %d %d\n", file.path, file.info.Size(), file.info.ModTime().UnixNano())
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// readPixels fills pixels from a cache file and reports whether the file is intact.
func readPixels(path string, pixels []byte) bool {
	file, err := regular.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	var sum [sha256.Size]byte
	if info, err := file.Stat(); err != nil || info.Size() != int64(len(pixels)+len(sum)) {
		return false
	}
	if _, err := io.ReadFull(file, pixels); err != nil {
		return false
	}
	_, err = io.ReadFull(file, sum[:])
	return err == nil && sum == sha256.Sum256(pixels)
}

// writePixels writes a cache file, entirely or not at all.
func writePixels(path string, pixels []byte) {
	if path == "" || os.MkdirAll(filepath.Dir(path), 0o777) != nil {
		return
	}
	file, err := os.CreateTemp(filepath.Dir(path), "*.part")
	if err != nil {
		return
	}
	sum := sha256.Sum256(pixels)
	_, err = file.Write(pixels)
	if err == nil {
		_, err = file.Write(sum[:])
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		os.Remove(file.Name())
	}
}

// decodeAll decodes every file to its position in pixels, on all cores. It returns the error of the
// first file that has one.
func (f *imageFolder) decodeAll(ctx context.Context, files []imageFile, pixels []byte) error {
	size := f.side * f.side * 3
	numWorkers := min(runtime.GOMAXPROCS(0), len(files))
	var (
		wait  sync.WaitGroup
		mu    sync.Mutex
		first = len(files) // index of the first file with an error so far
		fault error
	)
	isBehind := func(i int, err error) bool {
		mu.Lock()
		defer mu.Unlock()
		if err != nil && i < first {
			first, fault = i, err
		}
		return i >= first
	}
	for w := range numWorkers {
		wait.Go(func() {
			d := decoder{side: f.side}
			for i := w; i < len(files); i += numWorkers {
				if isBehind(i, d.decode(ctx, files[i].path, pixels[i*size:(i+1)*size])) {
					return
				}
			}
		})
	}
	wait.Wait()
	return fault
}

// decoder decodes images one after another.
type decoder struct {
	side    int
	square  *image.RGBA
	resizer *resizer // for the size of the last image
}

// decode writes one file's image to dst, [side, side, 3].
func (d *decoder) decode(ctx context.Context, path string, dst []byte) error {
	file, err := regular.Open(path)
	if err != nil {
		return &ReadError{File: path, Err: err}
	}
	defer file.Close()
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("data: read %s: %w", path, err)
	}
	img, err := decodeImage(file, path)
	if err != nil {
		return err
	}
	b := img.Bounds()
	n := min(b.Dx(), b.Dy())
	if d.resizer == nil || d.resizer.from != n {
		d.square, d.resizer = image.NewRGBA(image.Rect(0, 0, n, n)), newResizer(n, d.side)
	}
	corner := b.Min.Add(image.Pt((b.Dx()-n)/2, (b.Dy()-n)/2))
	draw.Draw(d.square, d.square.Rect, img, corner, draw.Src)
	d.resizer.scale(dst, d.square.Pix, d.square.Stride)
	return nil
}

// decodeImage decodes a PNG or JPEG file, detected by its first bytes, after checking its size.
// file names r in errors.
func decodeImage(r io.ReadSeeker, file string) (image.Image, error) {
	buffered := bufio.NewReader(r)
	magic, _ := buffered.Peek(8)
	decode, config := jpeg.Decode, jpeg.DecodeConfig
	switch {
	case strings.HasPrefix(string(magic), "\x89PNG"):
		decode, config = png.Decode, png.DecodeConfig
	case !strings.HasPrefix(string(magic), "\xff\xd8"):
		return nil, &FormatError{File: file, Offset: 0, Reason: "neither PNG nor JPEG"}
	}
	c, err := config(buffered)
	if err != nil {
		return nil, readError(err, file, -1, "damaged header")
	}
	if min(c.Width, c.Height) < 1 || max(c.Width, c.Height) > maxImageSide ||
		c.Width*c.Height > maxImagePixels {
		return nil, &FormatError{File: file, Offset: -1, Reason: fmt.Sprintf(
			"%dx%d pixels, want at most %d and %d on a side", c.Width, c.Height, maxImagePixels,
			maxImageSide)}
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return nil, &ReadError{File: file, Err: err}
	}
	buffered.Reset(r)
	img, err := decode(buffered)
	if err != nil {
		return nil, readError(err, file, -1, "damaged image")
	}
	return img, nil
}
