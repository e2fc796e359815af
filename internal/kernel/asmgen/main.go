// Command asmgen writes the assembly.
//
//	cd internal/kernel/asmgen && go run .
//
// Each family of kernels is one file here and one generated pair in a package: z<family>_amd64.s and
// z<family>_amd64.go with the Go declarations and the tables that say which function serves which ISA. The
// functions for AVX2 are written a second time for arm64, into a pair of the same names with _arm64 (neon.go).
package main

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
)

// The packages that assembly is written for, as folders of the module.
const (
	kernels = "internal/kernel/asm"
	threads = "compute"
)

func main() {
	flags := flag.NewFlagSet("asmgen", flag.ExitOnError) // avo fills the global set with its own
	source := flags.String("module", "../../..", "root of the module")
	out := flags.String("out", "../../..", "root of the tree to write to")
	flags.Parse(os.Args[1:])
	if err := run(*source, *out); err != nil {
		fmt.Fprintf(os.Stderr, "asmgen: %v\n", err)
		os.Exit(1)
	}
}

// arguments lists the files that declare the structs of arguments.
func arguments() []string {
	return []string{kernels + "/tile.go", kernels + "/winograd_plain.go", kernels + "/lane_plain.go",
		kernels + "/split_args.go", kernels + "/strassen_plain.go"}
}

// run writes every family, then the sums of what they came from.
func run(source, out string) error {
	pkg, err := declare(source, arguments())
	if err != nil {
		return err
	}
	for _, f := range []struct {
		folder, name string
		write        func(*assembler)
	}{
		{kernels, "element", element},
		{kernels, "gemm", gemm},
		{kernels, "lane", lane},
		{kernels, "peak", peak},
		{kernels, "winograd", winograd},
		{kernels, "row", row},
		{kernels, "split", split},
		{kernels, "strassen", strassen},
		{threads, "pause", pause},
		{threads, "vendor", vendor},
	} {
		folder := filepath.Join(out, f.folder)
		if err := generate(folder, f.name, pkg, f.write); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		if !slices.Contains(neonFamilies, f.name) {
			continue
		}
		if err := neon(folder, f.name, pkg, f.write); err != nil {
			return fmt.Errorf("%s for arm64: %w", f.name, err)
		}
	}
	return writeSums(source, out)
}

// writeSums writes asmgen.sum, the SHA-256 of each source and each output. By it the package of kernels
// sees that its assembly is current where this module cannot be built.
func writeSums(source, out string) error {
	var sums bytes.Buffer
	for _, list := range []struct {
		root     string
		patterns []string
	}{
		{source, append([]string{"internal/kernel/asmgen/*.go", "internal/kernel/asmgen/go.*"},
			arguments()...)},
		{out, []string{kernels + "/z*_amd64.*", kernels + "/z*_arm64.*", threads + "/z*_amd64.*"}},
	} {
		for _, pattern := range list.patterns {
			if err := appendSums(&sums, list.root, pattern); err != nil {
				return err
			}
		}
	}
	return os.WriteFile(filepath.Join(out, kernels, "asmgen.sum"), sums.Bytes(), 0o644)
}

// appendSums writes the SHA-256 of the files under root that a pattern matches.
func appendSums(sums *bytes.Buffer, root, pattern string) error {
	paths, err := filepath.Glob(filepath.Join(root, pattern))
	if err != nil {
		return err
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		fmt.Fprintf(sums, "%x  %s\n", sha256.Sum256(text), filepath.ToSlash(name))
	}
	return nil
}

// assembler writes the functions of one family.
type assembler struct {
	*build.Context
	pkg    *types.Package
	tables tables
}

// declare type-checks the files that declare the structs of arguments, so that their fields are found by
// name.
func declare(source string, paths []string) (*types.Package, error) {
	set := token.NewFileSet()
	var files []*ast.File
	for _, path := range paths {
		file, err := parser.ParseFile(set, filepath.Join(source, path), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	config := types.Config{IgnoreFuncBodies: true, Sizes: types.SizesFor("gc", "amd64")}
	return config.Check("lockstep/internal/kernel/asm", set, files, nil)
}

// function starts a function name(a *argument), whose one parameter points to a struct of arguments,
// and returns that struct.
func (a *assembler) function(name, argument, doc string) gotypes.Component {
	pointer := types.NewPointer(a.pkg.Scope().Lookup(argument).Type())
	params := types.NewTuple(types.NewParam(token.NoPos, a.pkg, "a", pointer))
	a.Function(name)
	a.Attributes(attr.NOSPLIT)
	a.Doc(doc)
	a.Pragma("noescape")
	a.Signature(gotypes.NewSignature(a.pkg,
		types.NewSignatureType(nil, nil, nil, params, nil, false)))
	return a.Dereference(a.Param("a"))
}

// generate writes the assembly and the declarations of one family into folder out.
func generate(out, name string, pkg *types.Package, write func(*assembler)) error {
	a := &assembler{build.NewContext(), pkg, tables{}}
	a.ConstraintExpr("amd64,!purego")
	write(a)
	file, err := a.Result()
	if err != nil {
		return err
	}
	if err := pass.Compile.Execute(file); err != nil {
		return err
	}
	config := printer.Config{Name: "asmgen", Argv: []string{"asmgen"}, Pkg: filepath.Base(out)}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for suffix, p := range map[string]printer.Printer{
		".s": printer.NewGoAsm(config), ".go": printer.NewStubs(config),
	} {
		text, err := p.Print(file)
		if err != nil {
			return err
		}
		text = bytes.ReplaceAll(text, []byte("Code generated by command: asmgen. DO NOT EDIT."),
			[]byte("Code generated by asmgen. DO NOT EDIT."))
		if suffix == ".go" {
			text = append(text, a.tables.methods(name)...)
		}
		path := filepath.Join(out, "z"+name+"_amd64"+suffix)
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
