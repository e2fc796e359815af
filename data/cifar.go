package data

import (
	"context"
	"errors"
)

func cifar10Source() source {
	return source{
		Info:   Info{Name: "cifar10", Text: "CIFAR-10, 50,000 + 10,000 photographs, 32x32 RGB"},
		locate: func(string) string { return "" },
		read: func(context.Context, string) (train, test *Set, err error) {
			return nil, nil, errors.New("unreachable")
		},
	}
}
