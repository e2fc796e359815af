package record

// Collective is one measurement of a collective.
type Collective struct {
	Operation string `json:"operation"` // all-reduce, broadcast, ...
	Asked     string `json:"asked"`     // the algorithm asked for; "" where there is none to choose
	Algorithm string `json:"algorithm"` // what ran, of several segments' the first: "auto" is resolved
	Link      string `json:"link"`      // local, shm or tcp
	// Encryption of links by TCP: tls, none, or "" where there was no need.
	Encryption string    `json:"encryption,omitempty"`
	Streams    int       `json:"streams,omitempty"` // connections of each link by TCP; 0: there is none
	Codec      string    `json:"codec"`             // of the wire
	Hosts      int       `json:"hosts"`             // that have the ranks
	Ranks      int       `json:"ranks"`             // that take part
	Bytes      int       `json:"bytes"`             // of the vector
	Repeats    int       `json:"repeats"`           // samples
	Calls      int       `json:"calls"`             // that make a sample
	Seconds    Quantiles `json:"seconds"`           // of one call, of the slowest rank
	// Predicted is what was predicted from the links' latency and speed, for fp32; else 0.
	Predicted float64 `json:"seconds_predicted"`
	// Rate is Bytes over the median; Bus is that times the share of the vector which every rank must send at
	// least, so that links of equal speed show equal numbers. Both are in GB/s.
	Rate float64 `json:"algorithm_gb_per_second"`
	Bus  float64 `json:"bus_gb_per_second"`
	// Sent is what the busiest rank sent in one call, in bytes, Formula what theory says: with a codec whose
	// lengths vary the most that there can be.
	Sent    int64   `json:"bytes_sent"`
	Formula int64   `json:"bytes_formula"`
	Samples Numbers `json:"samples"` // seconds behind the quantiles
}
