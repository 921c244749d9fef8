package syntax

import (
	"github.com/placectl/placectl/query/values"
)

// Span is the place of a node in the text, in bytes.
type Span struct{ pos, end int }

// At makes a Span.
func At(pos, end int) Span { return Span{pos, end} }

// Pos returns where the node begins.
func (s Span) Pos() int { return s.pos }

// End returns where it ends.
func (s Span) End() int { return s.end }

// Node is a node of the syntax tree. Parsing its String gives the same tree.
type Node interface {
	Pos() int
	End() int
	String() string
}

// Statement is one statement.
type Statement struct {
	Span
	Explain bool
	Analyze bool // EXPLAIN ANALYZE: run it, and report the cost
	Select  *Select
	View    *View // CREATE TEMP VIEW or DROP VIEW; then Select is nil
}

// Select is a SELECT or VALUES, with the queries that UNION and the like join to it. Order and
// limits apply to the whole.
type Select struct {
	Span
	With     *With
	Distinct bool
	Columns  []ResultColumn
	From     []FromItem
	Where    Expr
	GroupBy  []Expr
	Having   Expr
	Windows  []Window // named windows
	Values   [][]Expr // of VALUES; then Columns is empty
	Rest     []SetArm
	OrderBy  []OrderTerm
	Limit    Expr
	Offset   Expr
}

// ResultColumn is an expression or a star: all columns, or those of a table.
type ResultColumn struct {
	Span
	Star  bool
	Table string // of t.*
	X     Expr
	Alias string
	Text  string // the expression as written, which names the column if there is no alias
}

// JoinKind says how a FROM item is joined to those before it.
type JoinKind uint8

// The joins.
const (
	CommaJoin JoinKind = iota // also of the first item
	InnerJoin
	CrossJoin
	LeftJoin
)

// FromItem is a table, a table function or a subquery in FROM.
type FromItem struct {
	Span
	Join  JoinKind
	Table string
	Call  bool // a table function
	Args  []Expr
	At    Expr // the instant at which the table is read
	Sub   *Select
	Alias string
	On    Expr
	Using []Name
}

// Name is the name of a column, where nothing else is allowed.
type Name struct {
	Span
	Text string
}

// OrderTerm is a term of ORDER BY.
type OrderTerm struct {
	Span
	X     Expr
	Desc  bool
	Nulls NullOrder
}

// NullOrder says where NULLs go.
type NullOrder uint8

// The orders of NULLs. By default they are the smallest values.
const (
	NullsDefault NullOrder = iota
	NullsFirst
	NullsLast
)

// Expr is an expression.
type Expr interface {
	Node
	expr()
}

type (
	// Literal is a number, a text or NULL.
	Literal struct {
		Span
		Value values.Value
		// Word is TRUE or FALSE if it was written so.
		Word string
	}
	// ColumnRef is a column, by name.
	ColumnRef struct {
		Span
		Table, Name string
	}
	// Param is a parameter: by number, from 1, or by name with its sign.
	Param struct {
		Span
		Number int
		Name   string
	}
	// Unary is -x, +x, ~x or NOT x.
	Unary struct {
		Span
		Op string
		X  Expr
	}
	// Binary is an operator between two expressions: arithmetic, comparisons, IS,
	// IS NOT, AND, OR.
	Binary struct {
		Span
		Op   string
		X, Y Expr
	}
	// Between is x [NOT] BETWEEN lo AND hi.
	Between struct {
		Span
		Not       bool
		X, Lo, Hi Expr
	}
	// In is x [NOT] IN (list) or (subquery).
	In struct {
		Span
		Not  bool
		X    Expr
		List []Expr
		Sub  *Select
	}
	// Match is x [NOT] LIKE y [ESCAPE z], GLOB or REGEXP.
	Match struct {
		Span
		Not, Glob bool
		Regexp    bool
		X, Y      Expr
		Escape    Expr
	}
	// Case is CASE [x] WHEN ... THEN ... ELSE ... END.
	Case struct {
		Span
		X     Expr
		Whens []When
		Else  Expr
	}
	// Cast is CAST(x AS type).
	Cast struct {
		Span
		X    Expr
		Type string
		To   values.Affinity
	}
	// Call is a function, or an aggregate.
	Call struct {
		Span
		Name     string // lower case
		Distinct bool
		Star     bool
		Args     []Expr
		OrderBy  []OrderTerm // the order in which an aggregate takes its rows
		Filter   Expr
		Over     *Window
	}
	// Exists is EXISTS (subquery).
	Exists struct {
		Span
		Sub *Select
	}
	// Subquery is a subquery used as a value.
	Subquery struct {
		Span
		Sub *Select
	}
)

// When is a branch of a CASE.
type When struct{ If, Then Expr }

func (*Literal) expr()   {}
func (*ColumnRef) expr() {}
func (*Param) expr()     {}
func (*Unary) expr()     {}
func (*Binary) expr()    {}
func (*Between) expr()   {}
func (*In) expr()        {}
func (*Match) expr()     {}
func (*Case) expr()      {}
func (*Cast) expr()      {}
func (*Call) expr()      {}
func (*Exists) expr()    {}
func (*Subquery) expr()  {}

// Children lists the expressions directly below one, without those in subqueries.
func Children(x Expr) []Expr {
	var list []Expr
	add := func(all ...Expr) {
		for _, e := range all {
			if e != nil {
				list = append(list, e)
			}
		}
	}
	switch x := x.(type) {
	case *Unary:
		add(x.X)
	case *Binary:
		add(x.X, x.Y)
	case *Between:
		add(x.X, x.Lo, x.Hi)
	case *In:
		add(x.X)
		add(x.List...)
	case *Match:
		add(x.X, x.Y, x.Escape)
	case *Case:
		add(x.X)
		for _, w := range x.Whens {
			add(w.If, w.Then)
		}
		add(x.Else)
	case *Cast:
		add(x.X)
	case *Call:
		add(x.Args...)
		for i := range x.OrderBy {
			add(x.OrderBy[i].X)
		}
		add(x.Filter)
		if x.Over != nil {
			add(x.Over.Partition...)
			for i := range x.Over.OrderBy {
				add(x.Over.OrderBy[i].X)
			}
		}
	}
	return list
}

// Word returns the operator as written.
func (x *Match) Word() string {
	switch {
	case x.Glob:
		return "GLOB"
	case x.Regexp:
		return "REGEXP"
	}
	return "LIKE"
}
