package compare

import (
	"fmt"
	"io"

	"lockstep/app/record"
)

// Collective is what was measured of one collective, with vectors of one size.
type Collective struct {
	Operation string        `json:"operation"`
	Asked     string        `json:"asked"`     // the algorithm asked for, "" where there is none to choose
	Algorithm string        `json:"algorithm"` // the one that ran
	Link      string        `json:"link"`
	Codec     string        `json:"codec"`
	Hosts     int           `json:"hosts"`
	Ranks     int           `json:"ranks"`
	Bytes     int64         `json:"bytes"`
	Repeats   int           `json:"repeats"`
	Seconds   Quantiles     `json:"seconds"`
	Predicted record.Number `json:"seconds_predicted"` // 0: not predicted
	Bus       record.Number `json:"bus_gb_per_second"`
	Sent      int64         `json:"bytes_sent"`    // by the busiest rank
	Formula   int64         `json:"bytes_formula"` // the same by theory

	Encryption string `json:"encryption"` // of links by TCP: tls, none, or "" where there was no need
	Streams    int    `json:"streams"`    // connections of each link by TCP; 0: not told, or there is none
}

// Quantiles of a sample.
type Quantiles struct {
	Median record.Number `json:"median"`
	P10    record.Number `json:"p10"`
	P90    record.Number `json:"p90"`
}

// CollectivesKind is the kind of a results.json that holds collectives.
const CollectivesKind = "collectives"

// DecodeCollectives reads a JSON list of collectives.
func DecodeCollectives(r io.Reader) ([]Collective, error) {
	var all []Collective
	if err := record.ReadJSON(r, &all); err != nil {
		return nil, fmt.Errorf("collectives: %w", err)
	}
	return all, nil
}
