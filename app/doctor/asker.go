package doctor

import (
	"context"
	"encoding/json"
)

// Asker asks the process of Lockstep that answers for a host, over a connection that the console already has.
type Asker interface {
	// Ask sends a question with its body and returns the answer of [Host.Answer] there. Questions may be
	// asked at the same time. It returns ctx's error when ctx ends, and an error that names the host if the
	// host cannot be asked or if its Answer returned one.
	Ask(ctx context.Context, name string, body json.RawMessage) (json.RawMessage, error)
}

// Names of the questions that a [Host] answers.
const (
	AskFacts  = "doctor.facts"  // body placesAsk, answer record.HostFacts
	AskListen = "doctor.listen" // body listenAsk, answer listenAnswer
	AskProbe  = "doctor.probe"  // body probeAsk, answer probeAnswer
)

// Member is a host of a job as the console knows it.
type Member struct {
	Label string // name in the list of hosts
	Slots int    // workers that it may have
	Asker Asker
}
