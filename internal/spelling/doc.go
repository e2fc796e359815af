// Package spelling finds the name that a mistyped one probably meant.
package spelling
