package lockstep

import (
	"time"

	"lockstep/app/job/input"
	"lockstep/app/setting"
	"lockstep/infer"
)

// Predictor is a trained network in use: Predict may be called by any number of goroutines.
type Predictor = infer.Predictor

// Input is one image, one text or one row of a table for a Predictor.
type Input = infer.Input

// LoadConfig says what LoadAs opens, and how it computes. The zero value is a run's folder, with a thread for
// each core and batches of up to 32 inputs.
type LoadConfig struct {
	// Model names the network of weights that are no run's folder, such as "resnet50"; an Option may add one.
	Model string
	// Size is the side in pixels of its images, unless the weights say; 0 means 32. Vocabulary is the file of
	// its texts' words; "" means that beside the weights.
	Size       int
	Vocabulary string
	// Threads, Batch and Wait are those of infer.Config.
	Threads, Batch int
	Wait           time.Duration
}

// Load opens the network that a run left in a folder, or that an ONNX file holds. Networks of a program's own
// are given as options, as for Main. The caller closes the Predictor. Errors are those of the files:
// *checkpoint.FormatError, *checkpoint.ReadError, *checkpoint.MatchError, *model.FileError.
func Load(path string, options ...Option) (*Predictor, error) {
	return LoadAs(path, LoadConfig{}, options...)
}

// LoadAs is Load with settings. With a Model, path may be a safetensors file or a folder with one, PyTorch's
// or transformers' names included.
func LoadAs(path string, c LoadConfig, options ...Option) (*Predictor, error) {
	base := setting.Default()
	base.Model, base.Vocab = c.Model, c.Vocabulary
	if c.Size > 0 {
		base.Size = c.Size
	}
	base.Catalog = &setting.Catalog{}
	for _, option := range options {
		if err := option(base.Catalog); err != nil {
			return nil, err
		}
	}
	trained, err := input.OpenTrained(path, base,
		infer.Config{Threads: c.Threads, Batch: c.Batch, Wait: c.Wait})
	if err != nil {
		return nil, err
	}
	return trained.Predictor, nil
}
