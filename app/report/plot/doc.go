// Package plot draws charts as SVG pictures.
//
// A [Chart] is [Lines] or a [Tabular] one, such as [Bars] or [Dots]. [Markup] returns it for a page, once for
// a wide and once for a narrow window; its methods return its legend and the values that it draws.
// Series are told apart by colour, dashes, marks and letters together ([Style]), parts of bars by colour and
// order, so that no reader depends on colour. [StyleSheet] has both palettes, for light and dark.
//
// Every text is escaped here. A chart is a pure function of its fields: equal input gives equal bytes. Values
// that are NaN are gaps. A chart draws whatever it is given.
package plot
