package e2e

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Examples are shell. To try them one by one, in whatever branch or loop they stand, the commands are
// extracted from the text. Quotes, comments, redirections and here documents are understood. Substitutions
// are replaced by words of stand-ins.

// shellStandIns are values of variables in examples. Any other variable is "1", and so is a command
// substitution.
var shellStandIns = map[string]string{"verb": "done", "p": "minresource", "host": "h1", "batch": "night", "name": "0"}

// shellText is a script being parsed.
type shellText struct {
	text     string
	at       int
	word     []byte
	begun    bool // a word has begun: it may be ''
	words    []string
	commands [][]string
	ends     []string // the ends of here documents that begin on the next line
}

// simpleCommands returns the simple commands of a script as words, including those inside substitutions.
func simpleCommands(script string) [][]string {
	s := &shellText{text: script}
	for s.at < len(s.text) {
		s.step()
	}
	s.endCommand()
	return s.commands
}

func (s *shellText) step() {
	c := s.text[s.at]
	s.at++
	switch {
	case c == '#' && !s.begun:
		s.skipTo("\n")
	case c == '\\' && s.at < len(s.text):
		if s.text[s.at] != '\n' {
			s.put(string(s.text[s.at]))
		}
		s.at++
	case c == '\'':
		end := strings.IndexByte(s.text[s.at:], '\'')
		if end < 0 {
			end = len(s.text) - s.at
		}
		s.put(s.text[s.at : s.at+end])
		s.at = min(s.at+end+1, len(s.text))
	case c == '"':
		s.quoted()
	case c == '$':
		s.substitution()
	case c == '<' || c == '>':
		s.redirection(c)
	case c == ' ' || c == '\t':
		s.endWord()
	case strings.IndexByte("\n;&|()", c) >= 0:
		s.endCommand()
		if c == '\n' {
			s.skipDocuments()
		}
	default:
		s.put(string(c))
	}
}

func (s *shellText) put(text string) {
	s.word, s.begun = append(s.word, text...), true
}

func (s *shellText) endWord() {
	if s.begun {
		s.words = append(s.words, string(s.word))
	}
	s.word, s.begun = nil, false
}

func (s *shellText) endCommand() {
	s.endWord()
	if len(s.words) > 0 {
		s.commands = append(s.commands, s.words)
	}
	s.words = nil
}

// skipTo goes to where a text begins, or to the end.
func (s *shellText) skipTo(text string) {
	if i := strings.Index(s.text[s.at:], text); i >= 0 {
		s.at += i
	} else {
		s.at = len(s.text)
	}
}

func (s *shellText) quoted() {
	s.put("")
	for s.at < len(s.text) {
		c := s.text[s.at]
		s.at++
		switch {
		case c == '"':
			return
		case c == '\\' && s.at < len(s.text):
			s.put(string(s.text[s.at]))
			s.at++
		case c == '$':
			s.substitution()
		default:
			s.put(string(c))
		}
	}
}

// substitution parses what follows a $.
func (s *shellText) substitution() {
	rest := s.text[s.at:]
	switch {
	case strings.HasPrefix(rest, "(("):
		s.skipTo("))")
		s.at = min(s.at+2, len(s.text))
		s.put("1")
	case strings.HasPrefix(rest, "("):
		s.commands = append(s.commands, simpleCommands(s.bracketed())...)
		s.put("1")
	case strings.HasPrefix(rest, "{"):
		s.skipTo("}")
		s.at = min(s.at+1, len(s.text))
		s.put("1")
	default:
		name := rest[:len(rest)-len(strings.TrimLeftFunc(rest, func(c rune) bool {
			return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		}))]
		s.at += len(name)
		if name == "" && len(rest) > 0 && strings.IndexByte("?#@*$!", rest[0]) >= 0 {
			s.at++
		}
		if value, ok := shellStandIns[name]; ok {
			s.put(value)
		} else {
			s.put("1")
		}
	}
}

// bracketed skips (...) and returns what is inside.
func (s *shellText) bracketed() string {
	from, depth := s.at+1, 0
	for s.at < len(s.text) {
		c := s.text[s.at]
		s.at++
		switch c {
		case '\'':
			s.skipTo("'")
			s.at = min(s.at+1, len(s.text))
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return s.text[from : s.at-1]
			}
		}
	}
	return s.text[min(from, len(s.text)):]
}

func (s *shellText) redirection(c byte) {
	if string(s.word) == strings.Trim(string(s.word), "0123456789") {
		s.endWord()
	}
	s.word, s.begun = nil, false // the number of a stream
	rest := s.text[s.at:]
	if strings.HasPrefix(rest, "(") {
		s.commands = append(s.commands, simpleCommands(s.bracketed())...)
		s.put("1")
		return
	}
	document := c == '<' && strings.HasPrefix(rest, "<")
	rest = strings.TrimLeft(rest, "<>&")
	rest = strings.TrimLeft(rest, " ")
	s.at = len(s.text) - len(rest)
	end := strings.IndexAny(rest, " \t\n;&|()")
	if end < 0 {
		end = len(rest)
	}
	if document {
		s.ends = append(s.ends, strings.Trim(rest[:end], `'"`))
	}
	s.at += end
}

// skipDocuments skips the here documents that begin after a line's end.
func (s *shellText) skipDocuments() {
	for _, end := range s.ends {
		s.skipTo("\n" + end + "\n")
		s.at = min(s.at+len(end)+1, len(s.text))
	}
	s.ends = nil
}

// placectlCommands returns the arguments of all calls of placectl in a script, whatever stands before them:
// variables, reserved words, the times of a crontab.
func placectlCommands(script string) [][]string {
	var out [][]string
	for _, words := range simpleCommands(script) {
		i := slices.IndexFunc(words, func(w string) bool {
			return w == "placectl" || strings.HasSuffix(w, "/bin/placectl")
		})
		if i == 0 || i > 0 && words[i-1] != "-v" { // command -v only finds it
			out = append(out, words[i+1:])
		}
	}
	return out
}

func TestSimpleCommands(t *testing.T) {
	script := `job=$(placectl place 1 -o id) # placectl nothing
placectl show "$job[]" 'a  b' \
  --key "x $(placectl version)" >/dev/null 2>&1 && placectl cycle; if ! placectl wait $job; then :; fi
cat >file <<'END'
placectl inside
END
* * * * * placectl --db $HOME/x.db cycle -q | grep x
for p in a b; do placectl simulate --node-policy $p <<END
placectl inside
END
done
case $? in 0) placectl list ;; esac
source <(placectl completion bash)
placectl query "SELECT 'x;y'" ''`
	want := [][]string{{"place", "1", "-o", "id"}, {"version"}, {"show", "1[]", "a  b", "--key", "x 1"}, {"cycle"},
		{"wait", "1"},
		{"--db", "1/x.db", "cycle", "-q"}, {"simulate", "--node-policy", "minresource"}, {"list"},
		{"completion", "bash"}, {"query", "SELECT 'x;y'", ""}}
	if d := cmp.Diff(want, placectlCommands(script)); d != "" {
		t.Errorf("the commands of a script (-want +got):\n%s", d)
	}
}
