package query

import (
	"github.com/placectl/placectl/query/internal/exec"
	"github.com/placectl/placectl/query/internal/functions"
	"github.com/placectl/placectl/query/internal/plan"
	"github.com/placectl/placectl/query/syntax"
)

// Options configure how statements run. The zero value works.
type Options = plan.Options

// Limits bound the cost of a statement. The zero value is DefaultLimits.
type Limits = functions.Limits

// DefaultLimits are generous: they stop queries that would not end.
var DefaultLimits = functions.DefaultLimits

// Parse parses statements separated by semicolons. An error is a *fault.Error with its place, or a
// *fault.LimitError.
func Parse(text string) ([]*syntax.Statement, error) { return syntax.Parse(text) }

// Complete reports whether a text ends with a whole statement, as far as one can tell: with a semicolon
// outside texts, names and comments.
func Complete(text string) bool { return syntax.Complete(text) }

// Keywords lists the words of the dialect, for completion.
func Keywords() []string { return syntax.Keywords() }

// FunctionNames lists the functions, for completion.
func FunctionNames() []string { return functions.Names() }

// WindowFunctionNames lists the functions for windows only, for completion.
func WindowFunctionNames() []string { return exec.WindowFunctionNames() }
