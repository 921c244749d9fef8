package sqlshell

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/text"
)

// command is a command of the shell.
type command struct {
	name, args, usage string
	run               func(s *Shell, arg string) error
}

func commands() []command {
	quit := func(*Shell, string) error { return errQuit }
	return []command{
		{".exit", "", "leave, as .quit and Ctrl-D do", quit},
		{".explain", "on|off", "show how statements are answered instead of answering them",
			func(s *Shell, arg string) error { return s.toggle(&s.explain, arg) }},
		{".headers", "on|off", "the line of column names", (*Shell).headers},
		{".help", "", "this list", (*Shell).help},
		{".mode", "FORMAT", "how answers are printed: " + strings.Join(output.FormatNames(), ", "), (*Shell).mode},
		{".once", "FILE", "the next answer goes into a file", func(s *Shell, arg string) error {
			return s.outputTo(arg, true)
		}},
		{".output", "[FILE]", "answers go into a file, without one here again", func(s *Shell, arg string) error {
			return s.outputTo(arg, false)
		}},
		{".pager", "on|off", "show answers that are higher than the terminal with $PAGER", (*Shell).pager},
		{".param", "set NAME VALUE", "what :NAME, or ?1 for 1, stands for; also .param list, unset NAME, clear",
			(*Shell).param},
		{".quit", "", "leave", quit},
		{".read", "FILE", "run the statements and commands of a file", (*Shell).read},
		{".schema", "[TABLE]", "the columns of a table, or of all; the SELECT of a view", (*Shell).showSchema},
		{".tables", "[PATTERN]", "the tables and views whose names are LIKE it", (*Shell).tables},
		{".timer", "on|off", "tell how long statements take", func(s *Shell, arg string) error {
			return s.toggle(&s.timer, arg)
		}},
		{".width", "[N ...]", "the widths of columns in a table, 0 for as wide as they are", (*Shell).width},
	}
}

// do runs a line that begins with a period.
func (s *Shell) do(line string) error {
	name, arg, _ := strings.Cut(line, " ")
	all := commands()
	i := slices.IndexFunc(all, func(c command) bool { return c.name == name })
	if i < 0 {
		var names []string
		for _, c := range all {
			names = append(names, c.name)
		}
		return usage.Of("shell", "no command %s%s; .help lists them", text.Quoted(name), index.DidYouMean(name, names))
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
		return usage.Of("shell", "%s is neither on nor off", text.Quoted(arg))
	}
	return nil
}

func (s *Shell) headers(arg string) error {
	on := !s.NoHeader
	err := s.toggle(&on, arg)
	s.NoHeader = !on
	return err
}

func (s *Shell) help(string) error {
	var page strings.Builder
	for _, c := range commands() {
		page.WriteString(verbs.HelpLine(strings.TrimSpace(c.name+" "+c.args), c.usage, 30))
	}
	_, err := fmt.Fprint(s.echoed, page.String())
	return err
}

func (s *Shell) mode(arg string) error {
	if arg == "" {
		_, err := fmt.Fprintln(s.echoed, s.Format)
		return err
	}
	f, err := output.ParseFormat(arg)
	if err != nil {
		return usage.Of("shell", ".mode: %w", err)
	}
	s.Format = f
	return nil
}

// mostReading bounds how deeply files may read other files.
const mostReading = 16

func (s *Shell) read(arg string) error {
	name, err := oneWord(".read", arg)
	if err != nil {
		return err
	}
	if s.reading >= mostReading {
		return usage.Of("shell", ".read: files read files %d deep", mostReading)
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	s.reading++
	defer func() { s.reading-- }()
	in := plain(f)
	for {
		text, err := in.Next()
		if text == "" && err != nil {
			return s.rest()
		}
		if err := s.text(text); err != nil {
			s.pending.Reset()
			return err
		}
	}
}

// oneWord returns the single argument of a command, which may be in quotes.
func oneWord(command, arg string) (string, error) {
	words, err := splitWords(arg)
	if err == nil && len(words) != 1 {
		err = fmt.Errorf("one argument is expected, not %d", len(words))
	}
	if err != nil {
		return "", usage.Of("shell", "%s: %w", command, err)
	}
	return words[0], nil
}

// splitWords splits an argument at blanks outside single and double quotes.
func splitWords(arg string) (words []string, err error) {
	for arg = strings.TrimSpace(arg); arg != ""; arg = strings.TrimSpace(arg) {
		if quote := arg[0]; quote == '"' || quote == '\'' {
			end := strings.IndexByte(arg[1:], quote)
			if end < 0 {
				return nil, fmt.Errorf("%s is not closed", text.Quoted(arg))
			}
			words, arg = append(words, arg[1:end+1]), arg[end+2:]
			continue
		}
		end := strings.IndexAny(arg, " \t")
		if end < 0 {
			end = len(arg)
		}
		words, arg = append(words, arg[:end]), arg[end:]
	}
	return words, nil
}
