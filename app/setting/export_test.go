package setting

// ElsewhereLines are the lines of a section of elsewhere.txt.
var ElsewhereLines = elsewhere
