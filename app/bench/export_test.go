package bench

// ReadSteps sorts the lines of all ranks into columns.
var ReadSteps = readSteps
