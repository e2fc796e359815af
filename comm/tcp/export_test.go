package tcp

// The two sides of a handshake, for fuzzing.
var (
	Greet   = greet
	Welcome = welcome
)
