package launcher

import (
	"io"
	"testing"

	"lockstep/app/setting"
)

// FuzzNotice decodes what a worker's process tells its launcher.
func FuzzNotice(f *testing.F) {
	f.Add([]byte(`{"evaluation":{"steps":1,"loss":0.5}}`), 0)
	f.Add([]byte(`{"part":{"name":"steps-1.jsonl","text":"e30K"}}`), 1)
	f.Add([]byte(`{"data":{"train":"a","test":"b"}}`), 1)
	f.Add([]byte(`{"lost":null,"bucket":{},"server":{"rank":-1}}`), 2)
	f.Fuzz(func(t *testing.T, text []byte, rank int) {
		heard := newHeard(setting.Config{}, nil, Options{Stderr: io.Discard})
		_ = heard.decode(rank, text) // refused or taken: it does not panic
	})
}
