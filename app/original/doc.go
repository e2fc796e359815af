// Package original puts the five reports that Lockstep grew from beside its own results.
//
// [Page] is the section of a report by one of the recipes r0 to r4: the original's figures beside ours,
// and what
// ours say about each statement that its figures leave open. That is decided by the tests of package analysis
// and no more than they decide.
package original
