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

// Listing returns the command that a text means if it asks for tables or their columns: SHOW TABLES, DESCRIBE t, or
// .tables and .schema themselves. Otherwise it returns "".
func Listing(text string) string {
	words := strings.Fields(strings.TrimRight(text, "; \t\r\n"))
	if len(words) == 0 || len(words) > 2 {
		return ""
	}
	switch first, last := strings.ToLower(words[0]), words[len(words)-1]; {
	case first == ".tables", first == ".schema":
		return strings.Join(words, " ")
	case first == "show" && strings.EqualFold(last, "tables"):
		return ".tables"
	case (first == "describe" || first == "desc") && len(words) == 2:
		return ".schema " + last
	}
	return ""
}

// List answers what Listing has returned, with a printer of the host.
func List(host Host, command string, s Settings) error {
	shell, err := New(host, nil, s)
	if err != nil {
		return err
	}
	return shell.do(command)
}

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
		p := s.host.Printer(output.Result{Columns: []output.Column{{Name: "table"}}}, to)
		for _, name := range s.schema.Tables {
			if values.Like(pattern, name) {
				p.Row(name)
			}
		}
		return p.Close()
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
			return usage.Errorf("no table %s%s", text.Quoted(name), index.DidYouMean(name, names))
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
