package query

import (
	"errors"
	"fmt"
	"strings"

	"github.com/placectl/placectl/index"
)

// compiler holds what a whole statement shares.
type compiler struct {
	text    string
	catalog Catalog
	opt     Options
	depth   int            // of queries in queries, views included
	views   map[*View]bool // that are being compiled
	nslots  int
	nmade   int
}

func (c *compiler) fail(n Node, format string, args ...any) {
	at := 0
	if n != nil {
		at = n.Pos()
	}
	panic(abort{&Error{c.text, at, fmt.Sprintf(format, args...)}})
}

// source is a FROM item that has been found.
type source struct {
	*runSource
	item   *FromItem
	merged map[string]bool
	tables []string // of joins in parentheses: which table each column is of
	hidden []bool   // and which of them only its table's name shows
}

// scope is the names that a SELECT can see.
type scope struct {
	c       *compiler
	parent  *scope
	sources []*source
	aliases map[string]Expr    // of result columns, in lower case
	using   map[Expr]bool      // aliases that are being looked into
	outer   slots              // sources of the SELECTs around that were used
	group   *grouping          // set while what follows grouping is compiled
	common  map[string]*common // the queries of WITH: there is nothing else in the scope then
	top     bool               // it is that of the whole statement
	windows *windowing         // set while window functions may stand
	noAggs  string             // why no aggregate may stand here, "" where one may
}

// found is where a column is.
type found struct {
	src *source
	col int
}

// find looks a column up, in this scope and then in those around it.
func (s *scope) find(x *ColumnRef) (found, bool) {
	for at := s; at != nil; at = at.parent {
		f, ok := at.local(x)
		if ok {
			for in := s; in != at; in = in.parent {
				in.outer |= 1 << f.src.slot
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
func (s *scope) local(x *ColumnRef) (found, bool) {
	var hit found
	n := 0
	for _, src := range s.sources {
		for i := range src.columns {
			if !strings.EqualFold(src.columns[i].Name, x.Name) || x.Table != "" && !src.called(x.Table, i) {
				continue
			}
			if x.Table == "" && (src.merged[lowerASCII(x.Name)] || src.hides(i)) {
				continue // it is the same as one before
			}
			if n == 0 {
				hit = found{src, i}
			}
			n++
			if src.sub == nil || src.tables != nil && x.Table != "" {
				break
			}
		}
	}
	if n > 1 {
		s.c.fail(x, "the column %q is ambiguous: say of which table, as in %s.%s", x.Name, hit.src.name, x.Name)
	}
	return hit, n == 1
}

// hides reports whether only the name of its table shows a column.
func (src *source) hides(column int) bool { return src.hidden != nil && src.hidden[column] }

// called reports whether a column is one of a table's.
func (src *source) called(table string, column int) bool {
	if src.tables != nil && src.name == "" {
		return strings.EqualFold(src.tables[column], table)
	}
	return strings.EqualFold(src.name, table)
}

// aliasOf is the result column that a bare name means where it is no column.
func (s *scope) aliasOf(x *ColumnRef) Expr {
	if x.Table != "" {
		return nil
	}
	return s.aliases[lowerASCII(x.Name)]
}

// missing fails for a column that is nowhere.
func (s *scope) missing(x *ColumnRef) {
	var names []string
	var tables []string
	for at := s; at != nil; at = at.parent {
		for _, src := range at.sources {
			tables = append(tables, src.name)
			if x.Table == "" || strings.EqualFold(x.Table, src.name) {
				for _, col := range src.columns {
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
		in = " in " + s.sources[0].name
	}
	hint := didYouMean(x.Name, names)
	if hint == "" && x.pos < len(s.c.text) && s.c.text[x.pos] == '"' {
		hint = fmt.Sprintf("; for a text write %s", quoteText(x.Name))
	}
	if hint == "" && len(s.sources) == 0 && s.parent == nil {
		hint = "; there is no FROM"
	}
	s.c.fail(x, "no column %q%s%s", x.Name, in, hint)
}

func didYouMean(s string, candidates []string) string {
	if word := index.Suggest(s, candidates); word != "" {
		return "; did you mean '" + word + "'?"
	}
	return ""
}

// at gives an error the place of a node, but for one that a limit was reached.
func (c *compiler) at(n Node, err error) error {
	if errors.Is(err, ErrLimit) {
		return err
	}
	return &Error{c.text, n.Pos(), err.Error()}
}
