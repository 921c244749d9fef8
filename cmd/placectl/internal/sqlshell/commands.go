package sqlshell

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/spell"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/query"
)

// command is a command of the shell.
type command struct {
	name, args, usage string
	run               func(s *Shell, arg string) error
}

func commands() []command {
	return []command{
		{".explain", "on|off", "show how statements are answered instead of answering them", func(s *Shell, arg string) error { return s.toggle(&s.explain, arg) }},
		{".help", "", "this list", (*Shell).help},
		{".mode", "FORMAT", "how answers are printed: " + strings.Join(output.FormatNames(), ", "), (*Shell).mode},
		{".quit", "", "leave, as Ctrl-D does", func(*Shell, string) error { return errQuit }},
		{".schema", "[TABLE]", "the columns of a table, or of all", (*Shell).schema},
		{".tables", "", "the tables", (*Shell).tables},
		{".timer", "on|off", "tell how long statements take", func(s *Shell, arg string) error { return s.toggle(&s.timer, arg) }},
	}
}

// do runs a line that begins with a point.
func (s *Shell) do(line string) error {
	name, arg, _ := strings.Cut(line, " ")
	all := commands()
	i := slices.IndexFunc(all, func(c command) bool { return c.name == name })
	if i < 0 {
		var names []string
		for _, c := range all {
			names = append(names, c.name)
		}
		return usage.Of("shell", "no command %s%s; .help lists them", spell.Quoted(name), index.DidYouMean(name, names))
	}
	return all[i].run(s, strings.TrimSpace(arg))
}

func (s *Shell) toggle(to *bool, arg string) error {
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

func (s *Shell) help(string) error {
	var b strings.Builder
	for _, c := range commands() {
		verbs.WriteEntry(&b, strings.TrimSpace(c.name+" "+c.args), c.usage)
	}
	_, err := fmt.Fprint(s.out, b.String())
	return err
}

func (s *Shell) mode(arg string) error {
	f, err := output.ParseFormat(arg)
	if err != nil {
		return usage.Of("shell", ".mode: %w", err)
	}
	s.host.SetFormat(f)
	return nil
}

func (s *Shell) tables(string) error {
	for _, name := range s.Tables {
		fmt.Fprintln(s.out, name)
	}
	return nil
}

func (s *Shell) schema(arg string) error {
	names := s.Tables
	if arg != "" {
		if s.Columns[arg] == nil {
			return usage.Of("shell", "no table %s%s", spell.Quoted(arg), index.DidYouMean(arg, names))
		}
		names = []string{arg}
	}
	p := s.host.Printer(output.Result{Columns: []output.Column{{Name: "table"}, {Name: "column"}, {Name: "type"}, {Name: "unit"}, {Name: "meaning"}}})
	for _, name := range names {
		for _, c := range s.Columns[name] {
			p.Row(name, c.Name, c.Type.String(), c.Unit.String(), c.Doc)
		}
	}
	return p.Close()
}

// complete finds what the word before the cursor may become.
func (s *Shell) complete(line string, pos int) (head string, found []string, tail string) {
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
		for _, c := range commands() {
			add(c.name, c.name+" ")
		}
		return line[:start], found, line[pos:]
	}
	if start > 0 && line[start-1] == '.' {
		for _, c := range s.Columns[s.tableOf(line, start-1)] {
			add(c.Name, c.Name)
		}
		sort.Strings(found)
		return line[:start], found, line[pos:]
	}
	if word == "" { // a tab that is pasted stands before nothing
		return line[:start], nil, line[pos:]
	}
	for _, name := range s.Tables {
		add(name, name)
	}
	for _, alias := range aliases(line) {
		add(alias[1], alias[1])
	}
	s.completeRest(word, add)
	sort.Strings(found)
	return line[:start], found, line[pos:]
}

func (s *Shell) completeRest(word string, add func(candidate, shown string)) {
	for _, cols := range s.Columns {
		for _, c := range cols {
			add(c.Name, c.Name)
		}
	}
	for _, name := range append(query.FunctionNames(), query.WindowFunctionNames()...) {
		add(name, name+"(")
	}
	for _, k := range query.Keywords() {
		add(k, k)
	}
}
