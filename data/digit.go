package data

// point is a position in a digit's own box: x from -28 to 28, y from -48 (top) to 48.
type point struct{ x, y int32 }

// curve is a quadratic Bezier arc from the end of the last one to end, with control point ctrl.
type curve struct{ ctrl, end point }

// stroke is one continuous pen movement.
type stroke struct {
	start  point
	curves []curve
}

// line returns the straight arc from a to b.
func line(a, b point) curve {
	return curve{point{(a.x + b.x) / 2, (a.y + b.y) / 2}, b}
}

// digit is one way of writing a digit.
type digit []stroke

// digits returns the ways of writing 0 to 9: [class][variant].
func digits() [10][]digit {
	one := stroke{point{-16, -30}, []curve{
		line(point{-16, -30}, point{2, -48}), line(point{2, -48}, point{2, 48})}}
	seven := stroke{point{-28, -48}, []curve{
		line(point{-28, -48}, point{28, -48}), {point{0, -4}, point{-8, 48}}}}
	return [10][]digit{
		{{{point{0, -48}, []curve{
			{point{28, -48}, point{28, 0}}, {point{28, 48}, point{0, 48}},
			{point{-28, 48}, point{-28, 0}}, {point{-28, -48}, point{0, -48}}}}}},
		{
			{{point{0, -48}, []curve{line(point{0, -48}, point{0, 48})}}},
			{one},
			{one, {point{-18, 48}, []curve{line(point{-18, 48}, point{22, 48})}}},
		},
		{{{point{-26, -26}, []curve{
			{point{-24, -48}, point{0, -48}}, {point{26, -48}, point{26, -24}},
			{point{26, -6}, point{-4, 18}}, {point{-26, 36}, point{-28, 48}},
			line(point{-28, 48}, point{28, 48})}}}},
		{{{point{-24, -38}, []curve{
			{point{-10, -48}, point{2, -48}}, {point{24, -48}, point{24, -25}},
			{point{24, -2}, point{-6, -2}}, {point{28, -2}, point{28, 23}},
			{point{28, 48}, point{0, 48}}, {point{-16, 48}, point{-28, 36}}}}}},
		{
			{{point{10, 48}, []curve{line(point{10, 48}, point{10, -48}),
				line(point{10, -48}, point{-28, 20}), line(point{-28, 20}, point{28, 20})}}},
			{{point{14, 48}, []curve{line(point{14, 48}, point{14, -48})}},
				{point{-20, -48}, []curve{line(point{-20, -48}, point{-26, 10}),
					line(point{-26, 10}, point{28, 10})}}},
		},
		{{{point{24, -48}, []curve{
			line(point{24, -48}, point{-18, -48}), line(point{-18, -48}, point{-22, -6}),
			{point{-8, -14}, point{2, -14}}, {point{28, -14}, point{28, 16}},
			{point{28, 48}, point{-2, 48}}, {point{-18, 48}, point{-28, 36}}}}}},
		{{{point{20, -46}, []curve{
			{point{-26, -36}, point{-26, 16}}, {point{-26, 48}, point{2, 48}},
			{point{28, 48}, point{28, 18}}, {point{28, -8}, point{2, -8}},
			{point{-22, -8}, point{-26, 16}}}}}},
		{
			{seven},
			{seven, {point{-14, 2}, []curve{line(point{-14, 2}, point{18, 2})}}},
		},
		{{{point{0, -48}, []curve{
			{point{24, -48}, point{24, -25}}, {point{24, -2}, point{0, -2}},
			{point{-28, -2}, point{-28, 23}}, {point{-28, 48}, point{0, 48}},
			{point{28, 48}, point{28, 23}}, {point{28, -2}, point{0, -2}},
			{point{-24, -2}, point{-24, -25}}, {point{-24, -48}, point{0, -48}}}}}},
		{
			{{point{-20, 46}, []curve{
				{point{26, 36}, point{26, -16}}, {point{26, -48}, point{-2, -48}},
				{point{-28, -48}, point{-28, -18}}, {point{-28, 8}, point{-2, 8}},
				{point{22, 8}, point{26, -16}}}}},
			{{point{26, -18}, []curve{
				{point{26, -48}, point{-2, -48}}, {point{-28, -48}, point{-28, -18}},
				{point{-28, 8}, point{-2, 8}}, {point{26, 8}, point{26, -18}},
				line(point{26, -18}, point{20, 48})}}},
		},
	}
}
