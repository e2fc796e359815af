package record

import "fmt"

// ServerApart is the place of servers that have processes of their own.
const ServerApart = "apart"

// ServerStat holds one parameter server's own figures. Those of its process are those of the worker's if it
// is in one: memory and processor time of a server are then part of the worker's, and left out here.
type ServerStat struct {
	Server         int       `json:"server"`                  // its number
	Rank           int       `json:"rank"`                    // a worker's, or one after theirs
	PID            int       `json:"pid"`                     // its process
	Host           string    `json:"host"`                    // where it ran
	Elements       int64     `json:"elements"`                // of the weights that it has
	Updates        int       `json:"updates"`                 // of these
	BytesSent      int64     `json:"bytes_sent"`              // by its process
	BytesReceived  int64     `json:"bytes_received"`          // by its process
	BytesVectors   int64     `json:"bytes_vectors"`           // bytes_sent without compression
	PeakRSSBytes   int64     `json:"peak_rss_bytes,omitzero"` // of its process; left out with a worker
	Cores          CoreTimes `json:"core_seconds,omitzero"`   // of its machine; left out with a worker
	PlannedBytes   int64     `json:"planned_bytes,omitzero"`  // of memory; left out with a worker
	OptimizerBytes int64     `json:"optimizer_bytes"`         // of its optimizer's state
}

// ServerText says how many servers the run had and where, such as "2 servers apart"; "" if it had none.
func (s *Summary) ServerText() string {
	if len(s.Servers) == 0 {
		return ""
	}
	text := fmt.Sprintf("%d servers", len(s.Servers))
	if len(s.Servers) == 1 {
		text = "1 server"
	}
	if s.ServerPlace == ServerApart {
		return text + " apart"
	}
	return text + " with the workers"
}
