package main

import (
	"fmt"
	"os"
	"slices"
	"sort"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/spell"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/query"
	"golang.org/x/term"
)

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// shellCommandEntry is a command of the shell.
type shellCommandEntry struct {
	name, args, usage string
	run               func(s *sqlShell, arg string) error
}

func shellCommands() []shellCommandEntry {
	return []shellCommandEntry{
		{".explain", "on|off", "show how statements are answered instead of answering them", func(s *sqlShell, arg string) error { return s.toggle(&s.explain, arg) }},
		{".help", "", "this list", (*sqlShell).help},
		{".mode", "FORMAT", "how answers are printed: " + strings.Join(output.FormatNames(), ", "), (*sqlShell).mode},
		{".quit", "", "leave, as Ctrl-D does", func(*sqlShell, string) error { return errQuit }},
		{".schema", "[TABLE]", "the columns of a table, or of all", (*sqlShell).schema},
		{".tables", "", "the tables", (*sqlShell).tables},
		{".timer", "on|off", "tell how long statements take", func(s *sqlShell, arg string) error { return s.toggle(&s.timer, arg) }},
	}
}

// command runs a line that begins with a point.
func (s *sqlShell) command(line string) error {
	name, arg, _ := strings.Cut(line, " ")
	all := shellCommands()
	i := slices.IndexFunc(all, func(c shellCommandEntry) bool { return c.name == name })
	if i < 0 {
		var names []string
		for _, c := range all {
			names = append(names, c.name)
		}
		return usage.Of("shell", "no command %s%s; .help lists them", spell.Quoted(name), index.DidYouMean(name, names))
	}
	return all[i].run(s, strings.TrimSpace(arg))
}

func (s *sqlShell) toggle(to *bool, arg string) error {
	switch arg {
	case "":
		*to = !*to
	case "on", "off":
		*to = arg == "on"
	default:
		return usage.Of("shell", "%s is neither on nor off", spell.Quoted(arg))
	}
	return nil
}

func (s *sqlShell) help(string) error {
	var b strings.Builder
	for _, c := range shellCommands() {
		verbs.WriteEntry(&b, strings.TrimSpace(c.name+" "+c.args), c.usage)
	}
	_, err := fmt.Fprint(s.stdout, b.String())
	return err
}

func (s *sqlShell) mode(arg string) error {
	f, err := output.ParseFormat(arg)
	if err != nil {
		return usage.Of("shell", ".mode: %w", err)
	}
	s.Output = f
	return nil
}

func (s *sqlShell) tables(string) error {
	for _, name := range s.names {
		fmt.Fprintln(s.stdout, name)
	}
	return nil
}

func (s *sqlShell) schema(arg string) error {
	names := s.names
	if arg != "" {
		if s.columns[arg] == nil {
			return usage.Of("shell", "no table %s%s", spell.Quoted(arg), index.DidYouMean(arg, names))
		}
		names = []string{arg}
	}
	p := s.printer(output.Result{Columns: []output.Column{{Name: "table"}, {Name: "column"}, {Name: "type"}, {Name: "unit"}, {Name: "meaning"}}})
	for _, name := range names {
		for _, c := range s.columns[name] {
			p.Row(name, c.Name, c.Type.String(), c.Unit.String(), c.Doc)
		}
	}
	return p.Close()
}

// complete finds what the word before the cursor may become.
func (s *sqlShell) complete(line string, pos int) (head string, found []string, tail string) {
	start := pos
	for start > 0 && (line[start-1] == '.' && start == 1 || line[start-1] == '_' || line[start-1]|0x20 >= 'a' && line[start-1]|0x20 <= 'z' || line[start-1] >= '0' && line[start-1] <= '9') {
		start--
	}
	word := strings.ToLower(line[start:pos])
	add := func(candidate, shown string) {
		if strings.HasPrefix(strings.ToLower(candidate), word) && !slices.Contains(found, shown) {
			found = append(found, shown)
		}
	}
	if strings.HasPrefix(word, ".") {
		for _, c := range shellCommands() {
			add(c.name, c.name+" ")
		}
		return line[:start], found, line[pos:]
	}
	for _, name := range s.names {
		add(name, name)
	}
	if word != "" {
		s.completeRest(word, add)
	}
	sort.Strings(found)
	return line[:start], found, line[pos:]
}

func (s *sqlShell) completeRest(word string, add func(candidate, shown string)) {
	for _, cols := range s.columns {
		for _, c := range cols {
			add(c.Name, c.Name)
		}
	}
	for _, name := range query.FunctionNames() {
		add(name, name+"(")
	}
	for _, k := range query.Keywords() {
		add(k, k)
	}
}
