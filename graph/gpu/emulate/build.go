package emulate

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// Library is the name of the file that [Build] makes.
const Library = "libcuda.so.1"

// Order is the environment variable that says when streams do their work.
const Order = "EMULATE_ORDER"

// version changes with what else decides about the cached files.
const version = "2"

// flags are those of the compiler. Products and sums are rounded each, as sources say.
var flags = []string{"-std=c++17", "-O2", "-fPIC", "-fvisibility=hidden", "-ffp-contract=off",
	"-fno-strict-aliasing", "-fmax-errors=5", "-w"}

// Build writes the library to a folder.
func Build(dir string) error {
	from, err := Folder()
	if err != nil {
		return err
	}
	made, err := os.ReadFile(filepath.Join(from, Library))
	if err != nil {
		return fmt.Errorf("emulate: %w", err)
	}
	// A process may have the file of an earlier build in its memory, so that is not written to.
	path := filepath.Join(dir, Library)
	part := fmt.Sprintf("%s.%d", path, os.Getpid())
	if err := os.WriteFile(part, made, 0o755); err != nil {
		return fmt.Errorf("emulate: %w", err)
	}
	return os.Rename(part, path)
}

// Folder returns a folder that has the library of the sources as they are. It lies in that for temporary
// files, named by a hash, and so do the compiled sources.
func Folder() (string, error) {
	compiler, err := exec.LookPath("g++")
	if err != nil {
		return "", fmt.Errorf("emulate: the compiler is missing: %w", err)
	}
	_, file, _, ok := runtime.Caller(0)
	if !ok {
		return "", errors.New("emulate: where the sources are is not known")
	}
	here, err := found(filepath.Dir(file))
	if err != nil {
		return "", fmt.Errorf("emulate: %w", err)
	}
	b := &builder{compiler: compiler, here: here}
	b.kernels = filepath.Join(filepath.Dir(b.here), "kernel")
	b.cache = filepath.Join(os.TempDir(), fmt.Sprintf("lockstep-emulate-%d", os.Getuid()))
	if err := os.MkdirAll(b.cache, 0o755); err != nil {
		return "", fmt.Errorf("emulate: %w", err)
	}
	dir, err := b.library()
	if err != nil {
		return "", fmt.Errorf("emulate: %w", err)
	}
	return dir, nil
}

// found returns a folder of this module by its name in a program. Without the names of folders in what is
// compiled (-trimpath) that begins with the module's, whose folder is then one above the working directory.
func found(dir string) (string, error) {
	if filepath.IsAbs(dir) {
		return dir, nil
	}
	at, err := os.Getwd()
	for ; err == nil; at = filepath.Dir(at) {
		if _, missing := os.Stat(filepath.Join(at, "go.mod")); missing == nil {
			_, below, _ := strings.Cut(filepath.ToSlash(dir), "/")
			return filepath.Join(at, below), nil
		}
		if at == filepath.Dir(at) {
			err = fmt.Errorf("%s is in no folder above the working directory", dir)
		}
	}
	return "", err
}

// builder makes files in folder cache from sources in folders here/source and kernels.
type builder struct{ compiler, here, kernels, cache string }

// library returns the folder of the linked library.
func (b *builder) library() (string, error) {
	compiled, err := filepath.Glob(filepath.Join(b.kernels, "*.ptx"))
	if err != nil {
		return "", err
	}
	sources := []string{filepath.Join(b.here, "source", "driver.cc")}
	for _, ptx := range compiled {
		sources = append(sources, strings.TrimSuffix(ptx, ".ptx")+".cu")
	}
	objects := make([]string, len(sources))
	errs := make([]error, len(sources))
	slots := make(chan bool, runtime.GOMAXPROCS(0))
	var all sync.WaitGroup
	for i, source := range sources {
		all.Go(func() {
			slots <- true
			objects[i], errs[i] = b.object(source)
			<-slots
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return "", err
	}
	return b.make(strings.Join(objects, " "), "", func(out string) error {
		if err := os.MkdirAll(out, 0o755); err != nil {
			return err
		}
		return b.run(nil, append([]string{"-shared", "-Wl,-z,defs", "-o", filepath.Join(out, Library)},
			objects...)...)
	})
}

// object returns the path of a compiled source.
func (b *builder) object(source string) (string, error) {
	code, err := os.ReadFile(source)
	if err != nil {
		return "", err
	}
	headers, err := filepath.Glob(filepath.Join(b.kernels, "*.cuh"))
	if err != nil {
		return "", err
	}
	key := slices.Concat([]byte(source), code)
	for _, h := range append(headers, filepath.Join(b.here, "source", "emulate.h")) {
		text, err := os.ReadFile(h)
		if err != nil {
			return "", err
		}
		key = append(key, text...)
	}
	return b.make(string(key), ".o", func(out string) error {
		if strings.HasSuffix(source, ".cc") {
			return b.run(nil, append(flags, "-c", "-o", out, source)...)
		}
		return b.kernel(source, out)
	})
}

// make returns the path of a file of the cache, which f makes if it is not there.
func (b *builder) make(key, extension string, f func(out string) error) (string, error) {
	h := sha256.Sum256([]byte(strings.Join(flags, " ") + version + key))
	path := filepath.Join(b.cache, fmt.Sprintf("%x", h[:12])+extension)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	out := fmt.Sprintf("%s.%d", path, os.Getpid())
	if err := f(out); err != nil {
		return "", err
	}
	return path, os.Rename(out, path)
}

// entry finds kernels in preprocessed sources.
var entry = regexp.MustCompile(`extern "C"\s+__attribute__\(\(used\)\)\s+void\s+(\w+)\s*\(`)

// kernel compiles a file of kernels, with a line for each that tells the driver its name. What it defines
// stays apart from what others call the same.
func (b *builder) kernel(source, out string) error {
	checks := []string{"-fsanitize=alignment,bounds,integer-divide-by-zero", "-fno-sanitize-recover=all"}
	builtIn := filepath.Join(b.here, "source", "emulate.h")
	cuda := slices.Concat(flags, checks, []string{"-DEMULATED", "-include", builtIn, "-I", b.kernels, "-x",
		"c++"})
	var text bytes.Buffer
	if err := b.run(&text, append(cuda, "-E", "-P", source)...); err != nil {
		return err
	}
	var names []string
	for _, m := range entry.FindAllStringSubmatch(text.String(), -1) {
		names = append(names, m[1])
	}
	wrapper := out + ".cu"
	defer os.Remove(wrapper)
	code := fmt.Sprintf("namespace {\nEMULATED_CONVERSIONS\n#include %q\n}\n", source)
	for _, name := range names {
		code += fmt.Sprintf("static EmulatedKernel<&%s> registered_%s(%q);\n", name, name, name)
	}
	if err := os.WriteFile(wrapper, []byte(code), 0o644); err != nil {
		return err
	}
	return b.run(nil, append(cuda, "-c", "-o", out, wrapper)...)
}

// run runs the compiler. The error has what it says.
func (b *builder) run(out *bytes.Buffer, args ...string) error {
	var said bytes.Buffer
	c := exec.Command(b.compiler, args...)
	c.Stderr = &said
	if out != nil {
		c.Stdout = out
	}
	if err := c.Run(); err != nil {
		return fmt.Errorf("g++: %w\n%s", err, said.String())
	}
	return nil
}
