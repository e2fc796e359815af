package command

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lockstep/app/job/input"
	"lockstep/app/rundir"
	"lockstep/app/setting"
	"lockstep/checkpoint"
	"lockstep/infer"
	"lockstep/internal/regular"
	"lockstep/internal/spelling"
	"lockstep/model"

	"github.com/spf13/cobra"
)

// The formats of lockstep export.
const (
	formatONNX        = "onnx"
	formatSafetensors = "safetensors"
	formatHuggingFace = "huggingface"
)

// mostONNX is the greatest length of a file that readers of protocol buffers take.
const mostONNX = 1<<31 - 1

// exported is what lockstep export prints.
type exported struct {
	Format  string `json:"format"`
	Path    string `json:"path"` // the file, or the folder of huggingface
	Tensors int    `json:"tensors"`
	Bytes   int64  `json:"bytes"`
	SHA256  string `json:"sha256"` // of the file, of huggingface that of the weights
}

// exportTrainedCommand writes a trained network for other programs.
func exportTrainedCommand(a *app) *cobra.Command {
	var base setting.Config
	var format, out string
	c := &cobra.Command{
		Use:   "export RUN [flags]",
		Short: "Write a trained network as ONNX, safetensors or for transformers",
		Long: `Write a trained network as ONNX, safetensors or for transformers.

RUN is the folder of a training run, an ONNX file, or weights of a network that --model names.

  onnx         the network and its weights, for ONNX Runtime and others, for any batch. Images are [batch, C,
               H, W], normalised: the metadata has mean and deviation by channel, and the classes. Texts are
               input_ids, attention_mask and token_type_ids, [batch, sequence], int64. The output is logits.
               A network that came from an ONNX file keeps that file's nodes.
  safetensors  the weights alone, under the names of torchvision or transformers.
  huggingface  a folder that transformers reads with from_pretrained: of a BERT only.`,
		Example: "  lockstep export runs/photos\n" +
			"  lockstep export runs/photos --out photos.onnx\n" +
			"  lockstep export runs/reviews --format huggingface --out reviews",
		Args: takes(1, 1, "the folder of one run"),
	}
	f := c.Flags()
	f.StringVar(&format, "format", "", "`NAME`: onnx, safetensors or huggingface (default: as the name of "+
		"--out ends; onnx)")
	f.StringVar(&out, "out", "", "`PATH` of the file, or of the folder of huggingface (default: beside the "+
		"weights)")
	addNetwork(c, &base)
	return a.answering(c, func(_ *cobra.Command, args []string) (answer, error) {
		base.Catalog = &a.catalog
		e, err := exportedAs(format, out, args[0])
		if err != nil {
			return answer{}, err
		}
		use, _, err := input.FindTrained(args[0], base, infer.Config{})
		if err != nil {
			return answer{}, err
		}
		switch e.Format {
		case formatONNX:
			err = e.writeONNX(use)
		case formatSafetensors:
			err = a.writeSafetensors(e, use, args[0])
		default:
			err = e.writePretrained(use)
		}
		if err != nil {
			return answer{}, err
		}
		return answer{e, e.tell}, nil
	})
}

// exportedAs returns what is to be written where, as the flags say and by default.
func exportedAs(format, out, from string) (*exported, error) {
	known := []string{formatONNX, formatSafetensors, formatHuggingFace}
	switch extension := strings.TrimPrefix(filepath.Ext(out), "."); {
	case format == "" && slices.Contains(known, extension):
		format = extension
	case format == "":
		format = formatONNX
	case !slices.Contains(known, format):
		return nil, usagef("--format: got %.80q, want %s", format, strings.Join(known, ", "))
	}
	if out == "" {
		folder, name := from, filepath.Base(filepath.Clean(from))
		if info, err := os.Stat(from); err == nil && !info.IsDir() {
			folder, name = filepath.Dir(from), strings.TrimSuffix(name, filepath.Ext(name))
		}
		switch format {
		case formatHuggingFace:
			out = filepath.Join(folder, format)
		case formatONNX:
			out = filepath.Join(folder, "model.onnx")
		default:
			out = filepath.Join(folder, name+"."+format)
		}
	}
	switch {
	case format == formatONNX && !model.IsFile(out):
		return nil, usagef("--out: got %.80q, want a name that ends in .onnx", out)
	case format == formatSafetensors && filepath.Ext(out) != ".safetensors":
		return nil, usagef("--out: got %.80q, want a name that ends in .safetensors", out)
	case isSame(out, from) || format == formatHuggingFace && isSame(filepath.Join(out,
		checkpoint.WeightsFile), from):
		return nil, usagef("--out: %s is what is exported; want another name, as in --out exported.%s", out,
			format)
	}
	return &exported{Format: format, Path: out}, nil
}

// isSame reports whether two paths are those of one file.
func isSame(a, b string) bool {
	x, err := os.Stat(a)
	y, other := os.Stat(b)
	return err == nil && other == nil && os.SameFile(x, y)
}

// tell says what was written.
func (e *exported) tell(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%s: %s, %d tensors, %s, sha256 %s\n", e.Path, e.Format, e.Tensors,
		spelling.Size(e.Bytes), e.SHA256)
	return err
}

// describe returns what the file says of itself.
func describe(use infer.Config) map[string]string {
	d := checkpoint.Description{Classes: use.Classes, Mean: use.Mean, Std: use.Std, Table: use.Table,
		Values: use.Values}
	if !use.Network.ReadsTexts() {
		d.Input = use.Network.Input
	}
	return d.Metadata()
}

// writeONNX writes the network as ONNX.
func (e *exported) writeONNX(use infer.Config) error {
	v, err := use.Variables()
	if err != nil {
		return err
	}
	m, err := use.Network.ONNX(v)
	if err != nil {
		return &model.FileError{Err: fmt.Errorf("%s cannot be written as ONNX: %w", use.Network.Name, err)}
	}
	if m.Metadata == nil {
		m.Metadata = map[string]string{}
	}
	if scale, offset := use.Unscale(); scale != nil {
		m.Rescale(scale, offset)
	}
	maps.Copy(m.Metadata, describe(use))
	e.Tensors = len(m.Tensors)
	size := int64(0)
	for _, t := range m.Tensors {
		size += 4 * int64(t.Shape.Elems())
	}
	if size > mostONNX {
		return usagef("--format onnx: the weights have %s, and such a file at most 2 GiB; want safetensors",
			spelling.Size(size))
	}
	err = regular.Replace(e.Path, func(w io.Writer) error {
		h := sha256.New()
		e.Bytes, err = m.WriteTo(io.MultiWriter(w, h))
		e.SHA256 = hex.EncodeToString(h.Sum(nil))
		return err
	})
	if err != nil {
		return &checkpoint.WriteError{File: e.Path, Err: err}
	}
	return nil
}

// writeSafetensors writes the weights alone: those of a file unchanged, with all that they say.
func (a *app) writeSafetensors(e *exported, use infer.Config, from string) error {
	if !model.IsFile(from) {
		return a.withReader(from, func(r *checkpoint.Reader) (err error) {
			if isSame(r.Path, e.Path) {
				return usagef("--out: %s is what is exported; want another name", e.Path)
			}
			if err := input.Explain(r, from); err != nil {
				return err
			}
			if e.SHA256, err = checkpoint.Export(e.Path, r); err == nil {
				e.count(len(r.Tensors), e.Path)
			}
			return err
		})
	}
	v, err := use.Variables()
	if err == nil {
		e.SHA256, err = checkpoint.Save(e.Path, v, 0, describe(use))
	}
	if err == nil {
		e.count(len(v.Params)+len(v.States), e.Path)
	}
	return err
}

// count notes the size of a file that was written.
func (e *exported) count(tensors int, path string) {
	e.Tensors = tensors
	if info, err := os.Stat(path); err == nil {
		e.Bytes = info.Size()
	}
}

// writePretrained writes a folder that transformers reads.
func (e *exported) writePretrained(use infer.Config) error {
	if !use.Network.IsBERT() {
		return usagef("--format huggingface: transformers has no %s; --format safetensors has torchvision's "+
			"names, --format onnx the network itself", use.Network.Name)
	}
	v, err := use.Variables()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(e.Path, 0o777); err != nil {
		return &checkpoint.WriteError{File: e.Path, Err: err}
	}
	path := filepath.Join(e.Path, checkpoint.WeightsFile)
	if e.SHA256, err = checkpoint.Save(path, v, 0, describe(use)); err != nil {
		return err
	}
	e.count(len(v.Params)+len(v.States), path)
	return input.WritePretrained(rundir.Directory(e.Path), use.Network, use.Classes, use.Tokenizer)
}
