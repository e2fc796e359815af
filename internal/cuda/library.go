//go:build cuda && linux

package cuda

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/ebitengine/purego"
)

// PathVariable is the environment variable with folders in which [Load] looks first, separated by colons.
const PathVariable = "LOCKSTEP_CUDA_PATH"

// Library is a shared library that has been loaded.
type Library struct {
	// Path is where it was found; a bare name was found by the system's loader.
	Path   string
	handle uintptr
}

// Load loads the first of the named files that can be loaded, such as "libcudnn.so.9". It looks in
// [PathVariable], where the system's loader looks, in the toolkit's usual folders, and in the nvidia-*
// packages of Python. The error lists the places, and why a file that is there could not be loaded.
func Load(names ...string) (*Library, error) {
	var failed []string
	for _, dir := range places() {
		for _, name := range names {
			path := filepath.Join(dir, name)
			if dir != "" {
				if _, err := os.Stat(path); err != nil {
					continue
				}
			}
			handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_GLOBAL)
			if err == nil {
				return &Library{Path: path, handle: handle}, nil
			}
			why := strings.TrimSpace(err.Error())
			if isThere := dir != "" || !strings.HasPrefix(why, name+": cannot open"); isThere {
				failed = append(failed, why)
			}
		}
	}
	why := ""
	if len(failed) > 0 {
		why = "; " + strings.Join(failed, "; ")
	}
	return nil, fmt.Errorf("cuda: no %s in %s, where the system's loader looks, in %s, and in Python's "+
		"nvidia-* packages below %s%s", strings.Join(names, " or "), PathVariable,
		strings.Join(folders(), ", "), strings.Join(prefixes(), ", "), why)
}

// Bind loads a library as Load does, and looks up the functions that names pairs with what it calls them.
func Bind(names map[string]*Func, files ...string) (*Library, error) {
	l, err := Load(files...)
	if err != nil {
		return nil, err
	}
	for name, f := range names {
		if *f, err = l.Func(name); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// Version returns the text of a version as libraries number it: "9.14.0" for 91400.
func Version(number int32) string {
	return fmt.Sprintf("%d.%d.%d", number/10000, number/100%100, number%100)
}

// places returns the folders to look in; "" stands for where the system's loader looks.
func places() []string {
	dirs := append(filepath.SplitList(os.Getenv(PathVariable)), "")
	dirs = append(dirs, folders()...)
	for _, prefix := range prefixes() {
		// The pattern is well formed unless an environment variable is not.
		found, _ := filepath.Glob(filepath.Join(prefix, "lib/python3*/*-packages/nvidia/*/lib"))
		dirs = append(dirs, found...)
	}
	return dirs
}

// folders returns where the driver and the toolkit are usually installed.
func folders() []string {
	return []string{"/usr/local/nvidia/lib64", "/usr/local/cuda/lib64", "/usr/lib/x86_64-linux-gnu",
		"/usr/lib/wsl/lib"}
}

// prefixes returns where Pythons are usually installed.
func prefixes() []string {
	var dirs []string
	for _, variable := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if dir := os.Getenv(variable); filepath.IsAbs(dir) {
			dirs = append(dirs, dir)
		}
	}
	if home := os.Getenv("HOME"); filepath.IsAbs(home) {
		dirs = append(dirs, filepath.Join(home, ".local"))
	}
	return append(dirs, "/usr/local", "/usr", "/opt/*", "/opt/*/.venv")
}

// Func returns the address of a function.
func (l *Library) Func(name string) (Func, error) {
	f, err := purego.Dlsym(l.handle, name)
	if err != nil {
		return 0, fmt.Errorf("cuda: %s has no %s", l.Path, name)
	}
	return Func(f), nil
}

// Func is the address of a C function that takes integers and pointers and returns a status.
type Func uintptr

// Call calls the function and returns its status. The context of a device is current if the caller has made
// it so, see [Device.Do].
func (f Func) Call(args ...uintptr) int32 {
	held := arguments.Get().(*[32]uintptr)
	n := copy(held[:], args)
	status, _, _ := purego.SyscallN(uintptr(f), held[:n]...)
	arguments.Put(held)
	return int32(status)
}

// arguments keeps the arguments of calls on the heap, where SyscallN wants them, without a new array for
// each.
var arguments = sync.Pool{New: func() any { return new([32]uintptr) }}
