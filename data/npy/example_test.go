package npy_test

import (
	"fmt"
	"os"
	"path/filepath"

	"lockstep/data/npy"
)

func Example() {
	folder, err := os.MkdirTemp("", "npy")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "x.npy")
	header := "{'descr': '|u1', 'fortran_order': False, 'shape': (3, 2), }\n"
	text := "\x93NUMPY\x01\x00" + string([]byte{byte(len(header)), 0}) + header + "abcdef"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		panic(err)
	}
	a, err := npy.Open(path)
	if err != nil {
		panic(err)
	}
	defer a.Close()
	row := make([]byte, a.RowElems()*a.ElemBytes())
	err = a.ReadRows(row, 2)
	fmt.Println(a.Shape, string(row), err)
	// Output: [3 2] ef <nil>
}
