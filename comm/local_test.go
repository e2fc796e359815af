package comm_test

import (
	"testing"

	"go.uber.org/goleak"

	"lockstep/comm"
	"lockstep/comm/commtest"
)

func TestLocalLinks(t *testing.T) {
	commtest.Run(t, local)
}

func local(_ testing.TB, size int) []comm.Mesh { return comm.NewLocal(size) }

func BenchmarkLocal(b *testing.B) { commtest.Benchmark(b, local) }

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
