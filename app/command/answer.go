package command

import (
	"encoding/json"
	"errors"
	"io"

	"github.com/spf13/cobra"
)

// answer is the result of a command: a document for programs, and how people are told.
type answer struct {
	document any // nil: none
	tell     func(w io.Writer) error
}

// answering gives c a flag --json and lets it print what run returns, before the error.
func (a *app) answering(c *cobra.Command,
	run func(c *cobra.Command, args []string) (answer, error)) *cobra.Command {
	var isJSON bool
	addJSON(c, &isJSON)
	c.RunE = func(c *cobra.Command, args []string) error {
		found, err := run(c, args)
		switch {
		case found.document == nil:
			return err
		case isJSON:
			return errors.Join(writeJSON(a, found.document), err)
		}
		return errors.Join(found.tell(a.stdout), err)
	}
	return c
}

// addJSON gives c the flag of commands that print a short result.
func addJSON(c *cobra.Command, isJSON *bool) {
	c.Flags().BoolVar(isJSON, "json", false, "print one JSON document")
}

// writeJSON prints a result as one JSON document.
func writeJSON(a *app, result any) error {
	e := json.NewEncoder(a.stdout)
	e.SetIndent("", "  ")
	return e.Encode(result)
}
