package checkpoint

import "os"

// Bounds that the tests go up to.
const (
	MaxHeader  = maxHeader
	MaxTensors = maxTensors
	ChunkBytes = chunkBytes
)

// ReadPlainly makes r read its files piece by piece, as systems without memory maps do.
func (r *Reader) ReadPlainly() error {
	for _, f := range r.files {
		if err := f.close(); err != nil {
			return err
		}
		opened, err := os.Open(f.path)
		if err != nil {
			return err
		}
		f.source = plain{opened}
	}
	return nil
}

// ParseHeader tells what parseHeader finds.
func ParseHeader(text []byte, dataBytes int64) ([]Tensor, error) {
	h, err := parseHeader(text, dataBytes)
	return h.tensors, placed(err, "file", 0)
}

// Half decodes a half-precision number.
func Half(h uint16) float64 { return half(h) }

// Disk and DiskFile are what tests replace to make a store's calls fail.
type (
	Disk     = disk
	DiskFile = diskFile
)

// SystemDisk returns the disk that stores use.
func SystemDisk() Disk { return system{} }

// NewStoreOn returns a store on another disk.
func NewStoreOn(folder string, d Disk) *Store { return &Store{folder, d} }

// EncodeManifest returns the text of a manifest of this version.
func EncodeManifest(m Manifest) ([]byte, error) {
	m.Format, m.Version = manifestFormat, manifestVersion
	return m.encode()
}
