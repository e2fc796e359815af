// Package input prepares what a run trains: its samples, its network, the weights that it begins with.
//
// The launcher opens and verifies the [Start]; every worker loads the [Task] itself, and a rank on another
// host fetches the files that its host lacks over the control connection.
package input
