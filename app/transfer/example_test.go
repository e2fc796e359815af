package transfer_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"lockstep/app/transfer"
)

func ExampleCargo_Deliver() {
	here, _ := os.MkdirTemp("", "here")
	there, _ := os.MkdirTemp("", "there")
	defer os.RemoveAll(here)
	defer os.RemoveAll(there)
	path := filepath.Join(here, "train.tsv")
	os.WriteFile(path, []byte("text\tlabel\n"), 0o666)

	ctx := context.Background()
	cargo, err := transfer.Load(ctx, map[string]string{"sst-2/train.tsv": path})
	if err != nil {
		panic(err)
	}
	ours, theirs := net.Pipe() // a real stream starts ssh
	go transfer.Receive(ctx, theirs, theirs, there)
	d, err := cargo.Deliver(ctx, "node1", ours, nil)
	arrived, _ := os.ReadFile(filepath.Join(there, "sst-2", "train.tsv"))
	fmt.Printf("%d %v %q\n", d.Total, err, arrived)
	// Output: 11 <nil> "text\tlabel\n"
}
