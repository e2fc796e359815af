package job

// Summary is what summary.json holds and `lockstep train --json` prints. Times and phases are
// those of the slowest rank; bytes are sums over ranks.
type Summary struct {
	Model            string     `json:"model"`
	Data             string     `json:"data"`
	Generated        bool       `json:"generated"` // the data set is computed, not collected
	Strategy         string     `json:"strategy"`
	Algorithm        string     `json:"algorithm"`
	Link             string     `json:"link"`
	Workers          int        `json:"workers"`
	Threads          int        `json:"threads"`
	Batch            int        `json:"batch"`
	Shards           int        `json:"shards"`
	Wire             string     `json:"wire"`
	Seed             uint64     `json:"seed"`
	Steps            int        `json:"steps"`
	Epochs           float64    `json:"epochs"` // completed, with the fraction of the last
	Samples          int64      `json:"samples"`
	Seconds          float64    `json:"seconds"` // the training loop's wall time
	SamplesPerSecond float64    `json:"samples_per_second"`
	StepMS           Quantiles  `json:"step_ms"` // without the first step, if there is another
	Loss             Loss       `json:"loss"`
	TrainAccuracy    *float64   `json:"train_accuracy"` // of the last epoch, 0 to 1
	TestAccuracy     *float64   `json:"test_accuracy"`  // last evaluation, 0 to 1; null if none
	TestSamples      int64      `json:"test_samples"`
	Phases           Phases     `json:"phases"`
	BytesSent        int64      `json:"bytes_sent"`
	BytesReceived    int64      `json:"bytes_received"`
	PeakRSSBytes     int64      `json:"peak_rss_bytes"` // sum over worker processes
	ParameterSHA256  string     `json:"parameter_sha256"`
	ISA              string     `json:"isa"`
	Directory        string     `json:"directory"` // the run directory
	Ranks            []RankStat `json:"ranks"`
}

// Quantiles of a sample, in the sample's unit.
type Quantiles struct {
	Median float64 `json:"median"`
	P10    float64 `json:"p10"`
	P90    float64 `json:"p90"`
}

// Loss holds the mean loss of the first and of the last step.
type Loss struct {
	First float64 `json:"first"`
	Last  float64 `json:"last"`
}

// Phases are seconds by what the training goroutine was doing; they add up to the wall time.
type Phases struct {
	Forward     float64 `json:"forward"`
	Backward    float64 `json:"backward"`
	SyncExposed float64 `json:"sync_exposed"` // waiting for communication
	Optimizer   float64 `json:"optimizer"`
	Data        float64 `json:"data"` // waiting for the loader
	Evaluation  float64 `json:"evaluation"`
	Other       float64 `json:"other"`
}

// RankStat holds one worker's own figures.
type RankStat struct {
	Rank            int       `json:"rank"`
	PID             int       `json:"pid"`
	Host            string    `json:"host"`
	Steps           int       `json:"steps"`
	Samples         int64     `json:"samples"` // this rank's share
	Seconds         float64   `json:"seconds"`
	FirstStepMS     float64   `json:"first_step_ms"`
	StepMS          Quantiles `json:"step_ms"`
	Loss            Loss      `json:"loss"`
	Phases          Phases    `json:"phases"`
	BytesSent       int64     `json:"bytes_sent"`
	BytesReceived   int64     `json:"bytes_received"`
	PeakRSSBytes    int64     `json:"peak_rss_bytes"`
	ArenaBytes      int64     `json:"arena_bytes"` // the largest program's activation arena
	ParameterSHA256 string    `json:"parameter_sha256"`
}
