// Command lockstep trains neural networks data-parallel on CPU machines and says where the time
// goes.
package main
