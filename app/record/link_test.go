package record_test

import (
	"testing"

	"lockstep/app/record"
)

func TestLinkText(t *testing.T) {
	for _, test := range []struct {
		link, encryption string
		streams          int
		want             string
	}{
		{"shm", "", 0, "shm"}, {"local", "not needed", 0, "local"},
		{"shm", "tls", 1, "shm, TLS between hosts"},
		{"tcp", "tls", 4, "tcp, TLS between hosts, 4 streams each"},
		{"tcp", "not needed", 2, "tcp, 2 streams each"},
		{"tcp", "none", 1, "tcp, plain TCP between hosts"},
	} {
		if got := record.LinkText(test.link, test.encryption, test.streams); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}
