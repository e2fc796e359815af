package plot

import _ "embed"

// StyleSheet has the colours of both palettes as custom properties, and the rules of charts. A page that
// holds charts needs it.
//
//go:embed plot.css
var StyleSheet string
