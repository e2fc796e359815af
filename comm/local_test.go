package comm_test

import (
	"testing"

	"go.uber.org/goleak"

	"lockstep/comm"
	"lockstep/comm/commtest"
)

func TestLocalLinks(t *testing.T) {
	commtest.Run(t, func(_ *testing.T, size int) []comm.Mesh { return comm.NewLocal(size) })
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
