package job

import (
	"lockstep/app/record"
	"lockstep/app/setting"
	"lockstep/gradsync"
)

// Notice is a message of a worker to the launcher about one event, so that no message grows with the length
// of the run or the size of the model. Exactly one field is set.
type Notice struct {
	Evaluation *record.Evaluation `json:"evaluation,omitempty"` // from rank 0 alone, if ranks exchange
	Bucket     *record.BucketStat `json:"bucket,omitempty"`     // at the end, in the order of buckets
	Lost       *record.Lost       `json:"lost,omitempty"`
	Move       *record.Move       `json:"move,omitempty"`   // from rank 0 alone
	Data       *record.DataHash   `json:"data,omitempty"`   // hash of the loaded samples
	Server     *record.ServerStat `json:"server,omitempty"` // at its end
	Async      *record.Async      `json:"async,omitempty"`  // of server 0, at its end
	Part       *Part              `json:"part,omitempty"`   // of a file of a rank that is away
	Note       string             `json:"note,omitempty"`   // a line for people, from rank 0
}

// Part is what has been added to a file of a rank that is away.
type Part struct {
	Name  string `json:"name"` // path below the run directory, with slashes
	Bytes []byte `json:"bytes"`
}

// Wire returns the name of the wire at the end of the run.
func (r Result) Wire(c setting.Config) string {
	switch {
	case r.Summary.WireChoice != nil:
		return r.Summary.WireChoice.Chosen()
	case c.GradientWire().IsAuto():
		return gradsync.Wire{}.String() // nothing to choose between
	case c.Averages():
		return c.OuterWire
	}
	return c.Wire
}

// Result is a worker's last message to the launcher.
type Result struct {
	record.RankStat
	Summary      record.Summary `json:"summary"`       // of the run, with the fields that this worker knows
	TrainCorrect int64          `json:"train_correct"` // in the last epoch
	TrainSamples int64          `json:"train_samples"` // of the last epoch
}
