package checkpoint

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"lockstep/internal/regular"
)

// ManifestFile makes a folder a checkpoint: it lists the other files and is written last.
const ManifestFile = "manifest.json"

const (
	manifestFormat  = "lockstep checkpoint"
	manifestVersion = 1
	maxManifest     = 16 << 20 // bytes
)

// Manifest describes a checkpoint.
type Manifest struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Step is the number of steps done.
	Step int `json:"step"`
	// Files lists the other files.
	Files []Part `json:"files"`
	// Run is the state of the run itself, as JSON.
	Run json.RawMessage `json:"run"`
	// SHA256 is the hash, in hexadecimal, of the manifest's text with this field empty.
	SHA256 string `json:"sha256"`
}

// Part is one file of a checkpoint.
type Part struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// encode returns the manifest's text, with its hash filled in. Equal manifests have equal texts.
func (m Manifest) encode() ([]byte, error) {
	m.SHA256 = ""
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	m.SHA256 = hex.EncodeToString(sum[:])
	text, err = json.MarshalIndent(m, "", "  ")
	return append(text, '\n'), err
}

// Checkpoint is a checkpoint whose files are intact.
type Checkpoint struct {
	// Path is the folder.
	Path string
	Manifest
}

// File returns the path of one of the files.
func (c *Checkpoint) File(name string) string { return filepath.Join(c.Path, name) }

// Bytes returns the size of the files without the manifest.
func (c *Checkpoint) Bytes() int64 {
	n := int64(0)
	for _, p := range c.Files {
		n += p.Bytes
	}
	return n
}

// IsCheckpoint reports whether path is a folder with a manifest.
func IsCheckpoint(path string) bool {
	_, err := os.Stat(filepath.Join(path, ManifestFile))
	return err == nil
}

// OpenCheckpoint reads a checkpoint's manifest and checks it, and the size and the hash of every
// file. Errors: *FormatError, *ReadError.
func OpenCheckpoint(path string) (*Checkpoint, error) {
	at := filepath.Join(path, ManifestFile)
	text, err := readManifest(at)
	if err != nil {
		return nil, err
	}
	refuse := func(format string, args ...any) (*Checkpoint, error) {
		return nil, &FormatError{File: at, Offset: -1, Reason: fmt.Sprintf(format, args...)}
	}
	c := &Checkpoint{Path: path}
	if err := json.Unmarshal(text, &c.Manifest); err != nil {
		return refuse("damaged: %v", err)
	}
	if c.Format != manifestFormat || c.Version != manifestVersion {
		return refuse("format %.40q, version %d, want %q, version %d", c.Format, c.Version,
			manifestFormat, manifestVersion)
	}
	// Only the text that encode writes is accepted, so that no bit of it can differ.
	if again, err := c.encode(); err != nil || !bytes.Equal(text, again) {
		return refuse("damaged: its text does not have the sha256 in it")
	}
	for _, p := range c.Files {
		if p.Name != filepath.Base(p.Name) || !fs.ValidPath(p.Name) || p.Name == "." {
			return refuse("lists a file named %.60q", p.Name)
		}
		if err := p.verify(c.File(p.Name)); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// readManifest reads a manifest, up to the maximum size of one.
func readManifest(path string) ([]byte, error) {
	f, err := regular.Open(path)
	if err != nil {
		return nil, &ReadError{err}
	}
	defer f.Close() // it was only read
	text, err := io.ReadAll(io.LimitReader(f, maxManifest))
	if err != nil {
		return nil, &ReadError{err}
	}
	return text, nil
}

// verify compares a file with its entry in the manifest.
func (p Part) verify(path string) error {
	f, err := regular.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &FormatError{File: path, Offset: -1, Reason: "missing, but the manifest lists it"}
	}
	if err != nil {
		return &ReadError{err}
	}
	defer f.Close() // it was only read
	info, err := f.Stat()
	if err != nil {
		return &ReadError{err}
	}
	if !info.Mode().IsRegular() || info.Size() != p.Bytes {
		return &FormatError{File: path, Offset: -1, Reason: fmt.Sprintf(
			"has %d bytes, the manifest says %d", info.Size(), p.Bytes)}
	}
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return &ReadError{fmt.Errorf("read %s: %w", path, err)}
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != p.SHA256 {
		return &FormatError{File: path, Offset: -1, Reason: fmt.Sprintf(
			"damaged: sha256 is %s, the manifest says %s", got, p.SHA256)}
	}
	return nil
}
