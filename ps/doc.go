// Package ps keeps weights on parameter servers, to which workers send gradients.
//
// A Ledger decides the order of an asynchronous run: which worker computes which batch from which
// version of the weights, and which gradient is the next update.
package ps
