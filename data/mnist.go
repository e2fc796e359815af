package data

import (
	"context"
	"errors"
)

func mnistSource() source {
	return source{
		Info:   Info{Name: "mnist", Text: "MNIST, 60,000 + 10,000 handwritten digits"},
		locate: func(string) string { return "" },
		read: func(context.Context, string) (train, test *Set, err error) {
			return nil, nil, errors.New("unreachable")
		},
	}
}
