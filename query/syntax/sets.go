package syntax

import (
	"strings"
)

// View is a named query that can be used as a table; with Drop, a name to delete.
type View struct {
	Span
	Name    string
	Columns []Name
	Select  *Select
	Drop    bool
	// If leaves an existing view, or a missing one, alone.
	If bool
}

// With is WITH: queries with names, to be used as tables.
type With struct {
	Span
	Recursive bool
	Tables    []CommonTable
}

// CommonTable is a query of WITH.
type CommonTable struct {
	Span
	Name    string
	Columns []Name
	Select  *Select
}

// SetOp joins the answers of queries.
type SetOp uint8

// The set operators.
const (
	Union SetOp = iota
	UnionAll
	Intersect
	Except
)

// SetArm is a query whose answer is joined to that of the ones before.
type SetArm struct {
	Op     SetOp
	Select *Select
}

var setWords = [...]string{Union: " UNION ", UnionAll: " UNION ALL ", Intersect: " INTERSECT ", Except: " EXCEPT "}

func (v *View) String() string {
	if v.Drop {
		return "DROP VIEW " + IfWords(v.If, "IF EXISTS ") + quoteName(v.Name)
	}
	return "CREATE TEMP VIEW " + IfWords(v.If, "IF NOT EXISTS ") + quoteName(v.Name) + names(v.Columns) + " AS " +
		v.Select.String()
}

func (s *With) String() string {
	parts := make([]string, len(s.Tables))
	for i := range s.Tables {
		parts[i] = s.Tables[i].String()
	}
	return "WITH " + IfWords(s.Recursive, "RECURSIVE ") + strings.Join(parts, ", ")
}

// IfWords returns the words if is is true, else "".
func IfWords(is bool, words string) string {
	if is {
		return words
	}
	return ""
}

// names writes names in parentheses; "" for none.
func names(all []Name) string {
	if len(all) == 0 {
		return ""
	}
	parts := make([]string, len(all))
	for i, n := range all {
		parts[i] = n.String()
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

func (t *CommonTable) String() string {
	return quoteName(t.Name) + names(t.Columns) + " AS (" + t.Select.String() + ")"
}

// String returns the words between the queries.
func (op SetOp) String() string { return strings.TrimSpace(setWords[op]) }
