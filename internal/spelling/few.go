package spelling

import (
	"fmt"
	"strings"
)

// maxFew bounds the names in a message.
const maxFew = 12

// Few writes the first of some names, and how many more there are.
func Few(names []string) string {
	few := make([]string, min(len(names), maxFew))
	for i := range few {
		few[i] = fmt.Sprintf("%.40s", names[i])
	}
	text := strings.Join(few, ", ")
	if more := len(names) - len(few); more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}
