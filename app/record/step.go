package record

// Step is one line of steps.jsonl: what a rank did in one step and what its process took for it.
type Step struct {
	Rank          int     `json:"rank"`           // number of the worker
	Step          int     `json:"step"`           // from 0
	Epoch         int     `json:"epoch"`          // from 0
	Loss          Number  `json:"loss"`           // mean over the global batch
	OwnLoss       Number  `json:"own_loss"`       // over the rank's own samples; null: it had none
	Samples       int     `json:"samples"`        // of all workers, of this one if they never exchange
	Shards        int     `json:"shards"`         // that the rank computed
	Rate          Number  `json:"rate"`           // learning rate
	Seconds       Number  `json:"seconds"`        // wall time of the step
	Phases        Phases  `json:"phases"`         // adding up to seconds
	BytesSent     int64   `json:"bytes_sent"`     // by this rank
	BytesReceived int64   `json:"bytes_received"` // by this rank
	UsageSeconds  float64 `json:"usage_seconds"`  // in which the rest was taken: a little more than the step
	CPUSeconds    float64 `json:"cpu_seconds"`    // processor time of all threads
	RSSBytes      int64   `json:"rss_bytes"`      // resident memory, at most 0.1 s old
	// In use on the rank's GPU, by all processes, at most 1 s old; left out without one.
	GPUBytes int64 `json:"gpu_bytes,omitempty"`
}
