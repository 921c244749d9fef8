package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/query/fault"
	"github.com/placectl/placectl/query/internal/exec"
	"github.com/placectl/placectl/query/syntax"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// compiler holds what is shared by a whole statement.
type compiler struct {
	text    string
	catalog tables.Catalog
	opt     Options
	depth   int                   // of nested queries, views included
	views   map[*syntax.View]bool // being compiled now
	nslots  int
	nmade   int
}

func (c *compiler) fail(n syntax.Node, format string, args ...any) {
	at := 0
	if n != nil {
		at = n.Pos()
	}
	panic(fault.Abort{Err: &fault.Error{Text: c.text, Offset: at, Msg: fmt.Sprintf(format, args...)}})
}

// source is a resolved FROM item.
type source struct {
	*exec.Source
	item   *syntax.FromItem
	merged map[string]bool
}

// scope holds the names that a SELECT can see.
type scope struct {
	c       *compiler
	parent  *scope
	sources []*source
	aliases map[string]syntax.Expr // of result columns, in lower case
	using   map[syntax.Expr]bool   // aliases being resolved now
	outer   exec.Slots             // sources of outer SELECTs in use
	group   *grouping              // set while expressions after grouping are compiled
	common  map[string]*common     // the queries of WITH: such a scope has nothing else
	windows *windowing             // set while window functions are allowed
	noAggs  string                 // why no aggregate is allowed here, "" if one is
}

// found is the place of a column.
type found struct {
	src *source
	col int
}

// find looks a column up, in this scope and then in outer ones.
func (s *scope) find(x *syntax.ColumnRef) (found, bool) {
	for at := s; at != nil; at = at.parent {
		f, ok := at.local(x)
		if ok {
			for in := s; in != at; in = in.parent {
				in.outer |= 1 << f.src.Slot
			}
			return f, true
		}
		if at.aliasOf(x) != nil {
			return found{}, false
		}
	}
	return found{}, false
}

// local looks a column up among the sources of this scope.
func (s *scope) local(x *syntax.ColumnRef) (found, bool) {
	var hit found
	n := 0
	for _, src := range s.sources {
		for i := range src.Columns {
			if !strings.EqualFold(src.Columns[i].Name, x.Name) ||
				x.Table != "" && !strings.EqualFold(src.Name, x.Table) {
				continue
			}
			if x.Table == "" && src.merged[values.Lower(x.Name)] {
				continue // it is the same as an earlier one
			}
			if n == 0 {
				hit = found{src, i}
			}
			n++
			if src.Sub == nil {
				break
			}
		}
	}
	if n > 1 {
		s.c.fail(x, "the column %q is ambiguous: name its table, as in %s.%s", x.Name, hit.src.Name, x.Name)
	}
	return hit, n == 1
}

// aliasOf returns the result column that a bare name means if it is not a column.
func (s *scope) aliasOf(x *syntax.ColumnRef) syntax.Expr {
	if x.Table != "" {
		return nil
	}
	return s.aliases[values.Lower(x.Name)]
}

// missing fails for an unknown column.
func (s *scope) missing(x *syntax.ColumnRef) {
	var names []string
	var tables []string
	for at := s; at != nil; at = at.parent {
		for _, src := range at.sources {
			tables = append(tables, src.Name)
			if x.Table == "" || strings.EqualFold(x.Table, src.Name) {
				for _, col := range src.Columns {
					names = append(names, col.Name)
				}
			}
		}
		for name := range at.aliases {
			if x.Table == "" {
				names = append(names, name)
			}
		}
	}
	in := ""
	switch {
	case x.Table != "" && len(names) == 0:
		s.c.fail(x, "no table %q here%s", x.Table, didYouMean(x.Table, tables))
	case x.Table != "":
		in = " in " + x.Table
	case len(s.sources) == 1 && s.parent == nil:
		in = " in " + s.sources[0].Name
	}
	hint := didYouMean(x.Name, names)
	if hint == "" && x.Pos() < len(s.c.text) && s.c.text[x.Pos()] == '"' {
		hint = fmt.Sprintf("; for a text write %s", values.Quote(x.Name))
	}
	if hint == "" && len(s.sources) == 0 && s.parent == nil {
		hint = "; there is no FROM"
	}
	if hint == "" {
		hint = s.c.elsewhere(x.Name)
	}
	s.c.fail(x, "no column %q%s%s", x.Name, in, hint)
}

// elsewhere names the tables that have a column, or else the one that lists the columns.
func (c *compiler) elsewhere(column string) string {
	var have []string
	names := c.catalog.Names()
	for _, name := range names {
		t, err := c.catalog.Table(name, values.Value{})
		if err == nil && t != nil && slices.ContainsFunc(t.Columns(), func(col tables.Column) bool {
			return strings.EqualFold(col.Name, column)
		}) {
			have = append(have, name)
		}
	}
	switch {
	case len(have) > 0:
		return "; it is in " + strings.Join(have[:min(len(have), 4)], ", ")
	case slices.Contains(names, "sys_columns"):
		return "; sys_columns lists them"
	}
	return ""
}

func didYouMean(s string, candidates []string) string {
	if word := index.Suggest(s, candidates); word != "" {
		return "; did you mean '" + word + "'?"
	}
	return ""
}

// at gives an error the place of a node, except if a limit was reached.
func (c *compiler) at(n syntax.Node, err error) error {
	if errors.Is(err, fault.ErrLimit) {
		return err
	}
	return &fault.Error{Text: c.text, Offset: n.Pos(), Msg: err.Error()}
}

// failed gives an error of a run about the statement a place, if it has none.
func (c *compiler) failed(n syntax.Node) func(error) error {
	return func(err error) error {
		var placed *fault.Error
		if !errors.Is(err, fault.ErrQuery) || errors.As(err, &placed) {
			return err
		}
		return &fault.Error{Text: c.text, Offset: n.Pos(),
			Msg: strings.TrimPrefix(err.Error(), fault.ErrQuery.Error()+": ")}
	}
}
