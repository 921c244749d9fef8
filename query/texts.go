package query

import (
	"github.com/placectl/placectl/query/fault"
	"github.com/placectl/placectl/query/internal/exec"
	"github.com/placectl/placectl/query/internal/functions"
	"github.com/placectl/placectl/query/internal/plan"
	"github.com/placectl/placectl/query/syntax"
)

// Statement is one statement: its tree is described in package syntax.
type Statement = syntax.Statement

// View is a named query to use as a table.
type View = syntax.View

// Name is a column's name where nothing else can stand.
type Name = syntax.Name

// Error is a fault in a statement, and where it is.
type Error = fault.Error

// LimitError says that a query was given up because it took too much.
type LimitError = fault.LimitError

// What every fault of a statement's text is, and what every LimitError is.
var (
	ErrQuery = fault.ErrQuery
	ErrLimit = fault.ErrLimit
)

// Options are what statements run with. The zero value works.
type Options = plan.Options

// Limits bound the cost of a statement. The zero value is DefaultLimits.
type Limits = functions.Limits

// DefaultLimits are generous: they stop what would not end.
var DefaultLimits = functions.DefaultLimits

// Parse reads statements, separated by semicolons. An error is an *Error with its
// position, or a *LimitError.
func Parse(text string) ([]*Statement, error) { return syntax.Parse(text) }

// Complete reports whether a text ends a statement, as far as one can tell: with a
// semicolon that is in no text, name or comment.
func Complete(text string) bool { return syntax.Complete(text) }

// Keywords lists the words of the dialect, for completion.
func Keywords() []string { return syntax.Keywords() }

// FunctionNames lists the functions, for completion.
func FunctionNames() []string { return functions.Names() }

// WindowFunctionNames lists the functions that only windows have, for completion.
func WindowFunctionNames() []string { return exec.WindowFunctionNames() }
