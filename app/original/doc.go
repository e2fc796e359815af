// Package original puts the five reports that Lockstep grew from beside its own results.
//
// text/ holds their tables and sentences. [Page] is the section of a report by one of the recipes r0 to r4:
// the original's figures beside ours, each of its sentences with what its own figures and what ours say
// about it, and every objection of package claim to it. What ours says is decided by the tests of package
// analysis and no more than they decide.
package original
