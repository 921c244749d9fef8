package directives

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/placectl/placectl/cmd/placectl/internal/infile"
	"github.com/placectl/placectl/internal/text"
)

// line is a line of directives.
type line struct {
	family Family
	number int
	prefix string
	rest   string // behind the prefix
}

// prefixes begin a line of directives, at its first character.
var prefixes = []struct {
	text   string
	family Family
}{{"#placectl", None}, {"#PBS", PBS}, {"#SBATCH", Slurm}}

// maxLines bounds the lines of directives in a script.
const maxLines = 10_000

// lines returns the lines of directives that count: those before the first line that is neither blank
// nor a comment.
func (r *reader) lines() ([]line, error) {
	var found []line
	seen := map[Family]int{} // first line of each family
	number, at := 0, 0
	for ; at < len(r.text.Data); number++ {
		var text []byte
		text, at = nextLine(r.text.Data, at)
		if trimmed := bytes.TrimSpace(text); len(trimmed) > 0 && trimmed[0] != '#' {
			r.late(number+1, text, at)
			break
		}
		l, ok := directive(text)
		if !ok {
			continue
		}
		if l.number = number + 1; seen[l.family] == 0 {
			seen[l.family] = l.number
		}
		if found = append(found, l); len(found) > maxLines {
			return nil, r.badLine(l.number, fmt.Errorf("more than %d lines of directives", maxLines))
		}
	}
	chosen, err := r.choose(seen[PBS], seen[Slurm])
	if err != nil {
		return nil, err
	}
	r.Family = chosen
	var heeded []line
	for _, l := range found {
		if l.family == None || l.family == chosen {
			heeded = append(heeded, l)
		}
	}
	return heeded, nil
}

// nextLine returns the line at an offset, and where the next one begins.
func nextLine(data []byte, at int) ([]byte, int) {
	if n := bytes.IndexByte(data[at:], '\n'); n >= 0 {
		return data[at : at+n], at + n + 1
	}
	return data[at:], len(data)
}

// directive parses a line that begins like a directive. As qsub and sbatch do, it accepts an option
// right behind the prefix.
func directive(text []byte) (line, bool) {
	for _, p := range prefixes {
		rest, ok := bytes.CutPrefix(text, []byte(p.text))
		if !ok {
			continue
		}
		if len(rest) == 0 || strings.IndexByte(" \t\r", rest[0]) >= 0 || rest[0] == '-' && p.family != None {
			return line{family: p.family, prefix: p.text, rest: string(rest)}, true
		}
	}
	return line{}, false
}

// choose decides whose lines count besides ours, given the first line of each family.
func (r *reader) choose(pbs, slurm int) (Family, error) {
	switch r.o.Choose {
	case "none":
		return None, nil
	case "pbs":
		return familyIf(PBS, pbs > 0), nil
	case "slurm":
		return familyIf(Slurm, slurm > 0), nil
	case "":
		if pbs > 0 && slurm > 0 {
			return None,
				r.badLine(max(pbs, slurm),
					errors.New("the script has #PBS and #SBATCH lines: choose with --directives pbs, slurm or none"))
		}
		if pbs > 0 {
			return PBS, nil
		}
		return familyIf(Slurm, slurm > 0), nil
	}
	return None, fmt.Errorf("%w: --directives: %w", infile.ErrInput, text.NotOneOf(r.o.Choose, FamilyWords))
}

func familyIf(f Family, is bool) Family {
	if is {
		return f
	}
	return None
}

// late notes the first line of directives behind a command, where neither qsub nor sbatch would read
// it. number is the line of the command.
func (r *reader) late(number int, text []byte, at int) {
	for {
		if l, ok := directive(text); ok && strings.HasPrefix(strings.TrimLeft(l.rest, " \t"), "-") {
			r.note(spot{r.position(number, 0), l.prefix}, "not read: it stands behind the first command")
			return
		}
		if at >= len(r.text.Data) {
			return
		}
		text, at = nextLine(r.text.Data, at)
		number++
	}
}

func (r *reader) position(number, col int) infile.Position {
	return infile.Position{File: r.text.Name, Line: number, Col: col}
}

func (r *reader) badLine(number int, err error) error {
	return &infile.Error{Position: r.position(number, 0), Err: err}
}

// word is a word of a line of directives, with its position.
type word struct {
	text string
	at   infile.Position
}

// unprintable reports whether a text contains control characters. Bytes that are not UTF-8 may be part of
// names.
func unprintable(s string) bool {
	return strings.ContainsFunc(s, func(c rune) bool { return !text.IsPrintable(string(c)) })
}

// read reads one line.
func (r *reader) read(l line) {
	whole := spot{r.position(l.number, 0), l.prefix}
	if len(l.rest) > infile.MaxLine {
		r.refuse(whole, "the line has more than %d bytes", infile.MaxLine)
		return
	}
	split, err := text.Words(l.rest)
	if err != nil {
		r.refuse(whole, "%w", err)
		return
	}
	words := make([]word, len(split))
	for i, w := range split {
		col := utf8.RuneCountInString(l.prefix+l.rest[:w.At]) + 1
		words[i] = word{w.Text, r.position(l.number, col)}
		switch {
		case w.Expands >= 0 && !r.namesJob(l, w.Text):
			col = utf8.RuneCountInString(l.prefix+l.rest[:w.Expands]) + 1
			r.refuse(spot{r.position(l.number, col), cmp.Or(optionOf(words[:i+1]), l.prefix)},
				"%c is not expanded in such a line: in single quotes it stands for itself, and names of files have "+
					"%%j, %%x and others", l.rest[w.Expands])
			return
		case unprintable(w.Text):
			r.refuse(spot{words[i].at, cmp.Or(optionOf(words[:i+1]), l.prefix)}, "%q cannot be printed", w.Text)
			return
		}
	}
	switch {
	case l.family != None && l.family == r.o.Submits:
		r.options(l.family.options(), words)
	case l.family == PBS:
		r.options(optionsPBS(), words)
	case l.family == Slurm:
		r.options(optionsSlurm(), words)
	default:
		r.ownLine(words)
	}
}

// pbsJobID lists the spellings of the variable that qsub itself expands in the names of files.
var pbsJobID = [...]string{"${PBS_JOBID}", "$PBS_JOBID"}

// namesJob reports whether a word of a #PBS line contains only the expansion that qsub makes: the number
// of the job, in the name of a file.
func (r *reader) namesJob(l line, text string) bool {
	for _, name := range pbsJobID {
		text = strings.ReplaceAll(text, name, "")
	}
	return l.family == PBS && r.o.Submits != None && !strings.ContainsAny(text, "$`")
}

// optionOf returns the option that the last of some words is, or whose value it probably is, "" for none.
func optionOf(words []word) string {
	for i := len(words) - 1; i >= max(0, len(words)-2); i-- {
		name, _, _ := strings.Cut(words[i].text, "=")
		switch {
		case len(name) > 2 && strings.HasPrefix(name, "--"):
			return name
		case len(name) > 1 && name[0] == '-':
			return name[:2]
		}
	}
	return ""
}
