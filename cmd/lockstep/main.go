package main

import "lockstep"

func main() { lockstep.Main() }
