package data

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lockstep/internal/regular"
	"lockstep/tensor"
)

const (
	defaultSide = 32
	maxSide     = 1 << 12 // of an image after resizing
	maxImageSet = 1 << 36 // bytes of pixels
)

// imageFile is a file of an image folder.
type imageFile struct {
	path  string
	name  string // path from the folder of its part, with slashes
	class int32
	info  fs.FileInfo
}

// imageFolder lists a folder of images by class.
type imageFolder struct {
	root      string
	side      int
	classes   []string
	parts     [numParts][]imageFile
	isHeldOut bool
	left      leftOut
}

// readImageFolder reads JPEG, PNG and WebP files by class. Each image is turned upright, cropped to its
// central square, scaled to o.Side and converted to RGB. Decoded pixels are cached below o.Cache under a hash
// of the listing (names, sizes, modification times). A cache that is damaged or cannot be written costs only
// time.
//
// Images are normalised with the mean and standard deviation of ImageNet, as is usual for photographs.
// Classes alternate: the first image of each class, the second of each class, ...
func readImageFolder(ctx context.Context, root string, o Options) (s Sets, err error) {
	f := &imageFolder{root: root, side: sizeOr(o.Side, defaultSide)}
	if f.side > maxSide {
		return s, fmt.Errorf("data: %s: images of side %d, want at most %d", root, f.side, maxSide)
	}
	if err := f.list(o); err != nil {
		return s, err
	}
	if o.SkipBad > 0 {
		if err := f.skipBad(ctx, o); err != nil {
			return s, err
		}
	}
	files := slices.Concat(f.parts[:]...)
	size := f.side * f.side * 3
	if o.InMemory == 0 && !o.Uncut && len(files) > maxImageSet/size {
		return s, folderFault(root, "choose a smaller --size",
			"%d images of side %d take more than %d GiB", len(files), f.side, maxImageSet>>30)
	}
	s = f.sets(o.EvalOnly)
	if o.Uncut || o.InMemory > 0 && int64(len(files)*size) > o.InMemory {
		return s, nil
	}
	cache := ""
	if o.Cache != "" {
		cache = filepath.Join(o.Cache, "folders", f.key()+".rgb")
	}
	pixels := make([]byte, len(files)*size)
	if !readPixels(cache, pixels) {
		if err := readAll(ctx, newFileImages(files, f.side), pixels, len(files)); err != nil {
			return s, err
		}
		writePixels(cache, pixels)
	}
	for _, set := range slices.Compact(s.All()) { // one part alone may be two of them
		cut := set.Len() * size
		set.Pixels, set.Samples, pixels = pixels[:cut:cut], nil, pixels[cut:]
	}
	return s, nil
}

// sets returns the sets with images that are decoded when they are read.
func (f *imageFolder) sets(isScored bool) (s Sets) {
	s.IsHeldOut, s.LeftOut = f.isHeldOut, f.left.String()
	for i, to := range []**Set{trainPart: &s.Train, validationPart: &s.Validation, testPart: &s.Test} {
		if len(f.parts[i]) > 0 {
			*to = f.newSet(f.parts[i])
		}
	}
	if s.Scored() == nil && isScored {
		s.Test = s.Train
	}
	return s
}

func (f *imageFolder) newSet(files []imageFile) *Set {
	s := &Set{Name: f.root, Source: f.root, Classes: f.classes, byNumber: true,
		Samples: newFileImages(files, f.side), Labels: make([]int32, len(files)),
		Shape: tensor.Shape{f.side, f.side, 3},
		Mean:  []float32{0.485, 0.456, 0.406}, Std: []float32{0.229, 0.224, 0.225}}
	for i, file := range files {
		s.Labels[i] = file.class
	}
	return s
}

// list finds the files of all parts. Without one to score, a part of the training images is held out unless
// isScored. Classes are those of the training part or, if isScored, of all.
func (f *imageFolder) list(o Options) error {
	isScored := o.EvalOnly
	roots, err := f.findRoots(isScored)
	if err == nil {
		err = o.addValidation(f.root, roots[validationPart] != "", &roots[validationPart])
	}
	if err != nil {
		return err
	}
	named := roots[:trainPart+1]
	if isScored {
		named = roots[:]
	}
	if f.classes, err = f.classFolders(named); err != nil {
		return err
	}
	for i, root := range roots {
		if root == "" {
			continue
		}
		perClass, err := f.listPart(root)
		if err != nil {
			return err
		}
		f.parts[i] = inTurns(perClass)
	}
	if isScored || f.parts[validationPart] != nil || f.parts[testPart] != nil {
		return nil
	}
	f.isHeldOut = true
	var labels []int32
	var hashes []uint64
	for _, file := range f.parts[trainPart] {
		labels, hashes = append(labels, file.class), append(hashes, textHash(file.name))
	}
	held, all := heldOut(labels, hashes), f.parts[trainPart]
	f.parts[trainPart] = nil
	for i, file := range all {
		to := trainPart
		if held[i] {
			to = testPart
		}
		f.parts[to] = append(f.parts[to], file)
	}
	return nil
}

// findRoots returns the folders of the parts: those named so if one of them has folders in it, or the first
// is not alone, else the whole folder is the first part. Another part without folders has no classes, and is
// left out.
func (f *imageFolder) findRoots(isScored bool) (roots partPaths, err error) {
	roots, err = findParts(f.root, func(path string) string {
		if !isFolder(path) {
			return ""
		}
		return filepath.Base(path)
	})
	if err != nil {
		return roots, err
	}
	isOther := slices.ContainsFunc(roots[trainPart+1:], func(root string) bool {
		return f.hasFolders(root) || root != "" && roots[trainPart] != "" // train alone may be a class
	})
	if !isOther && !f.hasFolders(roots[trainPart]) {
		return partPaths{f.root}, nil
	}
	if roots, err = roots.begin(f.root, isScored); err != nil {
		return roots, err
	}
	all := roots
	for i, root := range roots {
		if i != trainPart && root != "" && !f.hasFolders(root) {
			roots[i] = ""
			f.left.note("folder " + plainName(filepath.Base(root)) + " without folders of classes")
		}
	}
	entries, err := os.ReadDir(f.root)
	if err != nil {
		return roots, &ReadError{File: f.root, Err: err}
	}
	for _, e := range entries {
		path := filepath.Join(f.root, e.Name())
		if !slices.Contains(all[:], path) {
			f.left.leave(path)
		}
	}
	return roots, nil
}

// foldersIn returns the names of the folders in root that could be classes, in order.
func foldersIn(root string) (names []string, err error) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, &ReadError{File: root, Err: err}
	}
	for _, e := range entries {
		if isClassFolder(filepath.Join(root, e.Name())) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// hasFolders reports whether a folder has others in it that could be classes.
func (f *imageFolder) hasFolders(root string) bool {
	names, _ := foldersIn(root) // none of one that cannot be read
	return len(names) > 0
}

// isHidden reports whether a name is that of no class and no image, such as .git or ._cat.jpg.
func isHidden(name string) bool { return strings.HasPrefix(name, ".") }

// isClassFolder reports whether a path is that of a folder of a class, as that of __MACOSX is not.
func isClassFolder(path string) bool {
	name := filepath.Base(path)
	return !isHidden(name) && !strings.HasPrefix(name, "__") && isFolder(path)
}

// classFolders returns the names of the folders in those of parts, in order.
func (f *imageFolder) classFolders(roots []string) ([]string, error) {
	var classes []string
	for _, root := range roots {
		if root == "" {
			continue
		}
		names, err := foldersIn(root)
		if err != nil {
			return nil, err
		}
		classes = append(classes, names...)
		slices.Sort(classes)
		classes = slices.Compact(classes)
		if len(names) == 0 || len(classes) > maxClasses {
			return nil, folderFault(root, "put the images of each class into a folder of its own",
				"%d folders, want one for each class, 1 to %d", len(classes), maxClasses)
		}
	}
	return classes, nil
}

// listPart returns the image files below root, [class][file in order of names].
func (f *imageFolder) listPart(root string) ([][]imageFile, error) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, &ReadError{File: root, Err: err}
	}
	perClass := make([][]imageFile, len(f.classes))
	for _, e := range entries {
		folder := filepath.Join(root, e.Name())
		if !isClassFolder(folder) {
			f.left.leave(folder)
			continue
		}
		class := slices.Index(f.classes, e.Name())
		if class < 0 {
			return nil, folderFault(folder, "all parts need folders of the same names",
				"class %q is not among the training classes %s", e.Name(), strings.Join(f.classes, ", "))
		}
		var left leftOut
		if perClass[class], err = listClass(folder, e.Name(), int32(class), &left); err != nil {
			return nil, err
		}
		if len(perClass[class]) == 0 {
			return nil, folderFault(folder, "convert what there is, or delete the folder",
				"no .jpg, .jpeg, .png or .webp file; left out: %s", cmp.Or(left.String(), "nothing"))
		}
		f.left.add(left)
	}
	return perClass, nil
}

// maxDepth is how many folders may lie inside each other below that of a class.
const maxDepth = 32

// listClass returns the image files of a class in folder and in the folders below it, and adds to left what
// else is there. name is the path of the folder from that of the part.
func listClass(folder, name string, class int32, left *leftOut) ([]imageFile, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, &ReadError{File: folder, Err: err}
	}
	if strings.Count(name, "/") > maxDepth {
		return nil, folderFault(folder, "look for a link to a folder above it",
			"more than %d folders inside each other", maxDepth)
	}
	var files []imageFile
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		info, err := os.Stat(path)
		switch {
		case isHidden(e.Name()):
			left.leave(path)
		case err != nil:
			return nil, &ReadError{File: path, Err: err}
		case info.IsDir():
			below, err := listClass(path, name+"/"+e.Name(), class, left)
			if err != nil {
				return nil, err
			}
			files = append(files, below...)
		case isImageName(e.Name()) && info.Mode().IsRegular():
			files = append(files, imageFile{path, name + "/" + e.Name(), class, info})
		default:
			left.leave(path)
		}
	}
	return files, nil
}

func isImageName(name string) bool {
	ext := strings.ToLower(filepath.Ext(name))
	return ext == ".png" || ext == ".jpg" || ext == ".jpeg" || ext == ".webp"
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
	fmt.Fprintf(h, "images 2 %q %d\n", root, f.side)
	for _, files := range f.parts {
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

// writePixels writes a cache file, entirely or not at all, and reports whether it did: without it only time
// is lost.
func writePixels(path string, pixels []byte) bool {
	if path == "" || os.MkdirAll(filepath.Dir(path), 0o777) != nil {
		return false
	}
	err := regular.Replace(path, func(w io.Writer) error {
		sum := sha256.Sum256(pixels)
		_, err := w.Write(pixels)
		if err == nil {
			_, err = w.Write(sum[:])
		}
		return err
	})
	return err == nil
}
