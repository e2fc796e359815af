package plot

import (
	"fmt"
	"math"
)

// Matrix shows counts of one thing against another of the same names: each cell is shaded by its part of its
// row, and shows its count where there is room.
type Matrix struct {
	Rows, Columns string // what they are
	Names         []string
	Values        [][]float64
}

// Legend is empty: the shade of a cell is explained by the count in it.
func (m Matrix) Legend() []Named { return nil }

// Data returns the counts, row by row.
func (m Matrix) Data() [][]any {
	data := [][]any{{m.Rows, m.Columns, "count"}}
	for i, row := range m.Values {
		for j, v := range row {
			data = append(data, []any{m.Names[i], m.Names[j], v})
		}
	}
	return data
}

func (m Matrix) frame(f frame) frame {
	longest := 4 * nameLetter
	for _, name := range m.Names {
		longest = math.Max(longest, nameWidth(name))
	}
	f.left, f.top, f.bottom = math.Min(22+longest, 0.35*f.width), 4, 40
	f.height = f.top + f.bottom + m.side(f)*float64(len(m.Names))
	return f
}

// side is the height of a cell.
func (m Matrix) side(f frame) float64 {
	return math.Min(34, math.Max(7, 0.8*(f.width-f.left-f.right)/float64(len(m.Names))))
}

func (m Matrix) draw(c canvas, f frame) {
	n := float64(len(m.Names))
	width, height := (f.width-f.left-f.right)/n, m.side(f)
	for i, row := range m.Values {
		sum := 0.0
		for _, v := range row {
			sum += v
		}
		y := f.top + height*float64(i)
		if height > 11 || i%2 == 0 {
			c.text(f.left-8, y+height/2+4, "name", "end", short(m.Names[i], int((f.left-12)/nameLetter)))
		}
		for j, v := range row {
			x, level := f.left+width*float64(j), 0
			if sum > 0 {
				level = int(math.Ceil(9 * v / sum))
			}
			c.rect(x, y, width, height, fmt.Sprintf("cell h%d", level),
				fmt.Sprintf("%s predicted to be %s: %s", m.Names[i], m.Names[j], trim(v)))
			if text := trim(v); v > 0 && width > 7*float64(len(text))+2 && height > 13 {
				class := "tick"
				if level > 5 {
					class = "inside q0"
				}
				c.text(x+width/2, y+height/2+4, class, "middle", text)
			}
		}
	}
	for j, name := range m.Names {
		if n := int(width / nameLetter); n > 2 || len(name) <= n {
			c.text(f.left+width*(float64(j)+0.5), f.height-f.bottom+16, "tick", "middle", short(name, n))
		}
	}
	c.text((f.left+f.width-f.right)/2, f.height-6, "label", "middle", m.Columns)
}
