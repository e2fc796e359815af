package original_test

import (
	"fmt"

	"lockstep/app/evidence/compare"
	"lockstep/app/original"
	"lockstep/app/record"
)

// A page can be made of results without rows: the original is judged by its own figures.
func ExamplePage() {
	r := &record.Results{Recipe: "r2"}
	page, ok := original.Page(r, compare.Compare(r))
	fmt.Println(page.Title, ok)
	// Output: The original report R2 true
}
