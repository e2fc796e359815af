package main

// gemm writes the tiles that multiply: convolutions, linear layers and their gradients.
func gemm(a *assembler) {}
