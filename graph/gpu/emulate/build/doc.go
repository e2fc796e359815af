// Command build writes the emulated driver to the folder it is given.
package main
