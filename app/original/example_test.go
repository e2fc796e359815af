package original_test

import (
	"fmt"

	"lockstep/app/original"
	"lockstep/app/record"
)

// A page can be made of results without rows: the original is judged by its own figures.
func ExamplePage() {
	page, ok := original.Page(&record.Results{Recipe: "r2"})
	fmt.Println(page.Title, ok)
	// Output: The original report R2 true
}
