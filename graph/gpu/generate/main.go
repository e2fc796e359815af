//go:build cuda && linux && amd64

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"lockstep/graph/gpu"
	"lockstep/internal/cuda"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// target is the oldest kind of GPU that the PTX is for: the first with bfloat16.
const target = "compute_80"

func run() error {
	c, err := open()
	if err != nil {
		return err
	}
	names := os.Args[1:]
	if len(names) == 0 {
		names = gpu.Sources()
	}
	for _, name := range names {
		stamp, err := gpu.Stamp(os.DirFS("kernel"), name)
		if err != nil {
			return err
		}
		ptx, err := c.compile(name + ".cu")
		if err != nil {
			return err
		}
		file := filepath.Join("kernel", name+".ptx")
		if err := os.WriteFile(file, append([]byte(stamp), ptx...), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// compiler is NVRTC.
type compiler struct {
	create, compileProgram, ptxSize, ptx, logSize, log cuda.Func
}

func open() (*compiler, error) {
	c := &compiler{}
	l, err := cuda.Bind(map[string]*cuda.Func{"nvrtcCreateProgram": &c.create,
		"nvrtcCompileProgram": &c.compileProgram, "nvrtcGetPTXSize": &c.ptxSize, "nvrtcGetPTX": &c.ptx,
		"nvrtcGetProgramLogSize": &c.logSize, "nvrtcGetProgramLog": &c.log},
		"libnvrtc.so.12", "libnvrtc.so.13")
	if err != nil {
		return nil, err
	}
	// NVRTC looks for its second library only where the system's loader does, unless that is loaded
	// already.
	rest, _ := filepath.Glob(filepath.Join(filepath.Dir(l.Path), "libnvrtc-builtins.so.*")) // well formed
	if len(rest) > 0 {
		if _, err := cuda.Load(filepath.Base(rest[0])); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// cString returns a pointer to s as C has it.
func cString(s string) *byte { return &append([]byte(s), 0)[0] }

// compile compiles one file of folder kernel.
func (c *compiler) compile(name string) ([]byte, error) {
	source, err := os.ReadFile(filepath.Join("kernel", name))
	if err != nil {
		return nil, err
	}
	headers, err := filepath.Glob("kernel/*.cuh")
	if err != nil {
		return nil, err
	}
	var texts, names []*byte
	for _, h := range headers {
		text, err := os.ReadFile(h)
		if err != nil {
			return nil, err
		}
		texts, names = append(texts, cString(string(text))), append(names, cString(filepath.Base(h)))
	}
	options := []*byte{cString("--gpu-architecture=" + target), cString("--std=c++17")}
	text, file, program := cString(string(source)), cString(name), new(uintptr)
	if s := c.create.Call(cuda.Address(program), cuda.Address(text), cuda.Address(file),
		uintptr(len(names)), cuda.Address(&texts[0]), cuda.Address(&names[0])); s != 0 {
		return nil, fmt.Errorf("%s: nvrtcCreateProgram: status %d", name, s)
	}
	status := c.compileProgram.Call(*program, uintptr(len(options)), cuda.Address(&options[0]))
	log := c.text(*program, c.logSize, c.log)
	runtime.KeepAlive([]any{texts, names, options, text, file})
	if status != 0 {
		return nil, fmt.Errorf("%s: status %d:\n%s", name, status, log)
	}
	if len(bytes.TrimSpace(log)) > 0 {
		fmt.Fprintf(os.Stderr, "%s:\n%s\n", name, log)
	}
	return withoutVersion(c.text(*program, c.ptxSize, c.ptx)), nil
}

// text returns what two functions say about a program: how long a text is, and the text.
func (c *compiler) text(program uintptr, size, read cuda.Func) []byte {
	n := new(uintptr)
	if size.Call(program, cuda.Address(n)) != 0 || *n == 0 {
		return nil
	}
	room := make([]byte, *n)
	read.Call(program, cuda.Address(&room[0]))
	return bytes.TrimRight(room, "\x00")
}

// withoutVersion drops the comments, which say little but the compiler's build.
func withoutVersion(ptx []byte) []byte {
	var kept []string
	for line := range strings.Lines(string(ptx)) {
		if trimmed := strings.TrimSpace(line); trimmed != "" && !strings.HasPrefix(trimmed, "//") {
			kept = append(kept, line)
		}
	}
	return []byte(strings.Join(kept, ""))
}
