package query

import (
	"github.com/placectl/placectl/query/fault"
	"github.com/placectl/placectl/query/internal/exec"
	"github.com/placectl/placectl/query/internal/functions"
	"github.com/placectl/placectl/query/internal/plan"
	"github.com/placectl/placectl/query/syntax"
)

// Statement is one statement. Package syntax describes its tree.
type Statement = syntax.Statement

// View is a named query to use as a table.
type View = syntax.View

// Name is the name of a column, where nothing else is allowed.
type Name = syntax.Name

// Error is an error in a statement, with its place.
type Error = fault.Error

// LimitError says that a query was stopped because it took too much.
type LimitError = fault.LimitError

// ErrQuery is wrapped by all errors in a statement's text, and ErrLimit by all LimitErrors.
var (
	ErrQuery = fault.ErrQuery
	ErrLimit = fault.ErrLimit
)

// Options configure how statements run. The zero value works.
type Options = plan.Options

// Limits bound the cost of a statement. The zero value is DefaultLimits.
type Limits = functions.Limits

// DefaultLimits are generous: they stop queries that would not end.
var DefaultLimits = functions.DefaultLimits

// Parse parses statements separated by semicolons. An error is an *Error with its place, or a
// *LimitError.
func Parse(text string) ([]*Statement, error) { return syntax.Parse(text) }

// Complete reports whether a text ends with a whole statement, as far as one can tell: with a semicolon
// outside texts, names and comments.
func Complete(text string) bool { return syntax.Complete(text) }

// Keywords lists the words of the dialect, for completion.
func Keywords() []string { return syntax.Keywords() }

// FunctionNames lists the functions, for completion.
func FunctionNames() []string { return functions.Names() }

// WindowFunctionNames lists the functions for windows only, for completion.
func WindowFunctionNames() []string { return exec.WindowFunctionNames() }
