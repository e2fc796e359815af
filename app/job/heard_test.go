package job

import (
	"strings"
	"testing"
)

// Workers that have loaded other samples end the run, whatever is the same about them.
func TestWorkersAgreeOnTheirSamples(t *testing.T) {
	r := newHeard(nil, Options{})
	for rank, text := range []string{
		`{"data":{"train":"abc","test":""}}`, `{"data":{"train":"abc","test":""}}`,
		`{"evaluation":{"steps":1}}`, `{"data":{"train":"abd","test":""}}`,
	} {
		err := r.decode(rank, []byte(text))
		if isOther := rank == 3; isOther != (err != nil) {
			t.Errorf("rank %d: %v", rank, err)
		}
		if err == nil {
			continue
		}
		if ExitCode(err) != ExitData || !strings.Contains(err.Error(), "of rank 3 have sha256 abd and ") {
			t.Errorf("exit %d: %v", ExitCode(err), err)
		}
	}
}
