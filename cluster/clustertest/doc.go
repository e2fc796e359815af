// Package clustertest makes hosts out of this machine, for tests of runs on several of them.
package clustertest
