package main

import (
	"bytes"
	"os"
	"testing"
)

func TestFigureIsOfTheCommittedResults(t *testing.T) {
	t.Chdir("../..")
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	want, err := draw(text)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(target)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is stale: go run ./results/figure", target)
	}
}
