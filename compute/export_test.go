package compute

// ThreadTime returns the processor time of the calling thread; 0 if it is not known.
var ThreadTime = threadTime
