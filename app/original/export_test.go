package original

// Sentences returns the beginnings of the sentences that a recipe answers.
func Sentences(name string) []string {
	var all []string
	for _, q := range reports()[name].questions {
		all = append(all, q.sentence)
	}
	return all
}
