package sqlshell

import (
	"fmt"
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/query/values"
)

// tables lists tables and views, those LIKE a pattern if one is given.
func (s *Shell) tables(arg string) error {
	pattern := "%"
	if arg != "" {
		var err error
		if pattern, err = oneWord(".tables", arg); err != nil {
			return err
		}
	}
	return s.answer(func(to *Settings) error {
		for _, name := range s.schema.Tables {
			if values.Like(pattern, name) {
				fmt.Fprintln(to.Out, name)
			}
		}
		return nil
	})
}

// showSchema shows the columns of a table, or of all tables. For a view it shows its SELECT.
func (s *Shell) showSchema(arg string) error {
	names := s.schema.Tables
	if arg != "" {
		name, err := oneWord(".schema", arg)
		if err != nil {
			return err
		}
		name = strings.ToLower(name)
		if !slices.Contains(names, name) {
			return usage.Of("shell", "no table %s%s", text.Quoted(name), index.DidYouMean(name, names))
		}
		names = []string{name}
	}
	return s.answer(func(to *Settings) error {
		p := s.host.Printer(output.Result{Columns: []output.Column{{Name: "table"}, {Name: "column"}, {Name: "type"},
			{Name: "unit"}, {Name: "meaning"}}}, to)
		for _, name := range names {
			for _, c := range s.schema.Columns[name] {
				p.Row(name, c.Name, c.Type.String(), c.Unit.String(), c.Doc)
			}
		}
		if err := p.Close(); err != nil {
			return err
		}
		for _, name := range names {
			if label, ok := s.schema.Views[name]; ok {
				fmt.Fprintf(to.Out, "CREATE VIEW %s AS %s;\n", name, label)
			}
		}
		return nil
	})
}
