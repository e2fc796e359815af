package bundle_test

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"lockstep/app/bundle"
)

// A bundle is made of a folder and taken out into another one.
func ExampleWrite() {
	from, err := os.MkdirTemp("", "bundle")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(from)
	if err := os.WriteFile(filepath.Join(from, "results.json"), []byte("{}"), 0o644); err != nil {
		log.Fatal(err)
	}
	m, err := bundle.Scan(from, bundle.Manifest{Kind: bundle.Bench})
	if err != nil {
		log.Fatal(err)
	}
	var b bytes.Buffer
	if err := bundle.Write(&b, from, m); err != nil {
		log.Fatal(err)
	}
	got, err := bundle.Extract(&b, filepath.Join(from, "again"))
	fmt.Println(got.Files[0].Name, got.Files[0].Bytes, err)
	// Output: results.json 2 <nil>
}
