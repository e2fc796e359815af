package model

// NamedWith is Named with another share of dropout than the usual one.
var NamedWith = Catalog{}.named
