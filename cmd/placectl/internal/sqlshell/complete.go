package sqlshell

import (
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/query"
	"github.com/placectl/placectl/query/tables"
)

// complete finds completions for the word before a position.
func (s *Shell) complete(text string, pos int) (head string, found []string, tail string) {
	line := text[strings.LastIndexByte(text[:pos], '\n')+1 : pos]
	if strings.HasPrefix(strings.TrimSpace(line), ".") {
		word, found := s.completeCommand(strings.TrimLeft(line, " \t"))
		return text[:pos-len(word)], found, text[pos:]
	}
	if inText(text[:pos]) {
		return text[:pos], nil, text[pos:]
	}
	start := wordBefore(text, pos)
	word := strings.ToLower(text[start:pos])
	c := candidates{word: word}
	switch {
	case start > 0 && text[start-1] == '.':
		from := wordBefore(text, start-1)
		cols := s.columnsOf(text, strings.ToLower(text[from:start-1]))
		for _, col := range cols {
			c.add(col.Name, col.Name)
		}
		if cols == nil { // the alias may follow later
			s.anyColumn(&c)
		}
	case word != "": // a pasted tab has no word before it
		s.completeWord(text, &c)
	}
	sort.Strings(c.found)
	return text[:start], c.found, text[pos:]
}

// candidates collects names that begin with a word.
type candidates struct {
	word  string // in lower case
	found []string
}

func (c *candidates) add(name, shown string) {
	if strings.HasPrefix(strings.ToLower(name), c.word) && !slices.Contains(c.found, shown) {
		c.found = append(c.found, shown)
	}
}

// completeWord finds tables, aliases, columns, functions and keywords. If the statement names tables,
// it finds only their columns.
func (s *Shell) completeWord(text string, c *candidates) {
	for _, name := range s.schema.Tables {
		c.add(name, name)
	}
	asked := false
	for _, t := range named(text) {
		if t.alias != "" {
			c.add(t.alias, t.alias)
		}
		for _, col := range s.schema.Columns[t.table] {
			asked = true
			c.add(col.Name, col.Name)
		}
	}
	if !asked {
		s.anyColumn(c)
	}
	for _, name := range append(query.FunctionNames(), query.WindowFunctionNames()...) {
		c.add(name, name+"(")
	}
	for _, k := range query.Keywords() {
		c.add(k, k)
	}
}

// anyColumn finds columns of all tables.
func (s *Shell) anyColumn(c *candidates) {
	for _, cols := range s.schema.Columns {
		for i := range cols {
			c.add(cols[i].Name, cols[i].Name)
		}
	}
}

// completeCommand completes a command, or a known word of its argument.
func (s *Shell) completeCommand(line string) (word string, found []string) {
	name, arg, spaced := strings.Cut(line, " ")
	c := candidates{word: strings.ToLower(name)}
	if !spaced {
		for _, known := range commands() {
			c.add(known.name, known.name+" ")
		}
		return name, c.found
	}
	arg = strings.TrimLeft(arg, " ")
	c.word = strings.ToLower(arg)
	words := map[string][]string{".mode": output.FormatNames(), ".schema": s.schema.Tables, ".tables": s.schema.Tables,
		".param": {"clear", "list", "set", "unset"}}[name]
	if slices.Contains([]string{".explain", ".headers", ".pager", ".timer"}, name) {
		words = []string{"off", "on"}
	}
	for _, w := range words {
		c.add(w, w)
	}
	return arg, c.found
}

// wordBefore returns where the name begins that ends at a position.
func wordBefore(text string, pos int) int {
	for pos > 0 && (text[pos-1] == '_' || text[pos-1]|0x20 >= 'a' && text[pos-1]|0x20 <= 'z' || text[pos-1] >= '0' &&
		text[pos-1] <= '9') {
		pos--
	}
	return pos
}

// inText reports whether a text ends within quotes or a comment.
func inText(text string) bool {
	for i := 0; i < len(text); i++ {
		end := ""
		switch {
		case text[i] == '\'' || text[i] == '"':
			end = text[i : i+1]
		case strings.HasPrefix(text[i:], "--"):
			end = "\n"
		case strings.HasPrefix(text[i:], "/*"):
			end = "*/"
		default:
			continue
		}
		n := strings.Index(text[i+1:], end)
		if n < 0 {
			return true
		}
		i += n + len(end)
	}
	return false
}

// source is a table that a statement names, with its alias.
type source struct{ table, alias string }

// sources matches tables behind FROM, JOIN and commas, with their aliases.
var sources = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`(?i)(?:\bfrom|\bjoin|,)\s+([a-z_][a-z0-9_]*)(?:\s*\([^()]*\))?(?:\s+at\s+(?:'[^']*'|[0-9]+))?(?:\s+(?:as\s+)?([a-z_][a-z0-9_]*))?`)
})

// named returns the tables of the statement.
func named(text string) (out []source) {
	for _, m := range sources().FindAllStringSubmatch(text, -1) {
		alias := m[2]
		if slices.Contains(query.Keywords(), strings.ToUpper(alias)) {
			alias = ""
		}
		out = append(out, source{strings.ToLower(m[1]), alias})
	}
	return out
}

// columnsOf returns the columns of a table, given by its name or its alias in the statement.
func (s *Shell) columnsOf(text, name string) []tables.Column {
	for _, t := range named(text) {
		if strings.ToLower(t.alias) == name {
			return s.schema.Columns[t.table]
		}
	}
	return s.schema.Columns[name]
}
