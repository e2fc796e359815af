package peer_test

import (
	"context"
	"errors"
	"fmt"

	"lockstep/app/peer"
	"lockstep/cluster"
)

// Without a Python that has PyTorch there is nothing to compare with, and the error says how to get one.
func ExampleFind() {
	_, err := peer.Find(context.Background(), cluster.Environment{cluster.EnvPython: "/nowhere/python"}, 1)
	var missing *peer.MissingError
	fmt.Println(errors.As(err, &missing))
	// Output: true
}
