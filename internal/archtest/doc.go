// Package archtest holds the tests that keep the house in order: layers, docs, sizes, names.
//
// It parses every Go file of the module in-process and compares the tree with ARCHITECTURE.md's layers
// table and the house rules. A test that ran the go command instead would be answered from the test cache
// and miss a change. The package has no code outside its tests.
package archtest
