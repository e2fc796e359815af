package command_test

import (
	"lockstep/app/command"
	"lockstep/app/setting"
)

// This is the main function of cmd/lockstep. An empty catalog knows the built-in networks and data sets.
func ExampleMain() {
	command.Main(setting.Catalog{})
}
