// Package archtest holds the tests that keep the house in order: layers, docs, sizes, names.
//
// It parses every Go file of the module in-process and compares the tree with ARCHITECTURE.md's
// layers table and the rules of STYLE: a test that asked the go command instead would be served
// from the test cache and miss a change. It has no code outside its tests.
package archtest
