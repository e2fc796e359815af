// Package finding is what measurements show, as data that only a report words.
package finding
