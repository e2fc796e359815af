// Package spelling writes words as people would have them.
package spelling
