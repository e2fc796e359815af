package analysis_test

import (
	"strings"
	"testing"

	"lockstep/app/analysis"
	"lockstep/app/record"
)

// Rows of another program are beside ours only if its losses are ours.
func TestPeers(t *testing.T) {
	for _, test := range []struct {
		name    string
		theirs  record.Numbers
		refused string
	}{
		{"equal", record.Numbers{2.3, 2.2, 2.1}, ""},
		{"rounded", record.Numbers{2.3001, 2.21, 2.15}, ""},
		{"other weights", record.Numbers{2.31, 2.2, 2.1}, "its first loss is 0.0043 away"},
		{"other updates", record.Numbers{2.3, 2.3, 2.3}, "the others up to 0.095"},
		{"fewer steps", record.Numbers{2.3, 2.2}, "its first loss is +Inf away"},
		{"not compared", nil, "its losses were not compared with ours"},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := newMaker(6, 2)
			same := []float64{1, 1, 1, 1, 1, 1}
			m.add(record.Setting{Strategy: "single", Workers: 1}, same...)
			row := m.add(record.Setting{Strategy: "single", Workers: 1, Peer: "pytorch",
				Options: "pytorch+nchw"}, 2, 2.1, 2, 2.1, 2, 2.1)
			for i := range row.Runs {
				row.Runs[i].ParameterSHA256, row.Runs[i].ISA = "", ""
			}
			if test.theirs != nil {
				m.Peers = []record.PeerCheck{{Peer: "pytorch", Model: "vgg11", Data: "cifar10", Batch: 256,
					Format: "nchw", Ours: record.Numbers{2.3, 2.2, 2.1}, Theirs: test.theirs}}
			}
			c := analysis.Compare(m.Results)
			refused := ""
			for _, n := range c.Notes {
				if n.Topic == "another program" && n.Kind == analysis.Refused {
					refused = n.Text
				}
			}
			if refused == "" != (test.refused == "") || !strings.Contains(refused, test.refused) {
				t.Errorf("refused: %q, want %q", refused, test.refused)
			}
			findings := strings.Join(c.Groups[0].Findings(), "\n")
			if !strings.Contains(findings, "2.05× (2.00–2.10) the speed of PyTorch") {
				t.Errorf("findings %s", findings)
			}
			if strings.Contains(findings, "No way of training is faster than") {
				t.Errorf("another program is a rival: %s", findings)
			}
		})
	}
}
