package payload

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
)

// Lines are the lines of submit --each, one for each job.
type Lines []Line

// Line is a line with its number.
type Line struct {
	Number int // from 1
	Text   string
}

// maxLine bounds a line in bytes: the kernel takes no longer argument.
const maxLine = 128<<10 - 1

// ReadLines reads lines, without blank ones.
func ReadLines(name string, in io.Reader) (list Lines, err error) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine+2)
	number := 0
	for lines.Scan() {
		number++
		line := lines.Text()
		switch {
		case strings.TrimSpace(line) == "":
			continue
		case strings.IndexByte(line, 0) >= 0:
			return nil, fmt.Errorf("%s, line %d has a NUL byte: it is not text", name, number)
		case len(list) == engine.MaxArray:
			return nil, fmt.Errorf("%s has more than %d lines", name, engine.MaxArray)
		}
		list = append(list, Line{number, line})
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, fmt.Errorf("%s, line %d has more than %d bytes", name, number+1, maxLine)
	} else if err != nil {
		return nil, fmt.Errorf("%s, line %d: %w", name, number+1, err)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s has only blank lines", name)
	}
	return list, nil
}

// placeholder matches what a command has in place of a line, a field of it, or its index. It is
// compiled at the first use, because few runs need it.
var placeholder = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{(#|[1-9][0-9]{0,2})?\}`) })

// unknown matches a name in braces, such as {name}, and with it a $ of a shell before it.
var unknown = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$?\{[A-Za-z_][A-Za-z0-9_]*\}`) })

// known refuses a command with a name in braces, which no line would fill. The first line may have been meant to name
// its fields, and would run as a job.
func (list Lines) known(command []string) error {
	for _, word := range command {
		for _, name := range unknown().FindAllString(word, -1) {
			if name[0] == '$' {
				continue
			}
			header := ""
			if slices.Contains(list[0].fields(), name[1:len(name)-1]) {
				header = fmt.Sprintf("; line %d is a job like the others, so leave out a header", list[0].Number)
			}
			return fmt.Errorf("the command uses %s: {} is the line, {1} to {%d} its fields, {#} its index%s; for the "+
				"command's own braces write { %s }",
				name, len(list[0].fields()), header, name[1:len(name)-1])
		}
	}
	return nil
}

// Each returns what the job of each line executes. In the command, {} is the line, {1} its first field,
// and {#} its index. A command without any of these gets the line as its last argument.
func (list Lines) Each(command []string) ([]engine.Element, error) {
	if err := list.known(command); err != nil {
		return nil, err
	}
	filled := slices.ContainsFunc(command, placeholder().MatchString)
	out := make([]engine.Element, len(list))
	for i, line := range list {
		words := append(make([]string, 0, len(command)+1), command...)
		if !filled {
			words = append(words, line.Text)
		}
		for k := range len(command) {
			if filled {
				var err error
				if words[k], err = line.fill(command[k], i); err != nil {
					return nil, err
				}
			}
		}
		out[i] = engine.Element{Command: words, Line: line.Text}
	}
	return out, nil
}

// fill puts a line into a word.
func (l *Line) fill(word string, index int) (filled string, err error) {
	return placeholder().ReplaceAllStringFunc(word, func(is string) string {
		switch is {
		case "{}":
			return l.Text
		case "{#}":
			return strconv.Itoa(index)
		}
		n, _ := strconv.Atoi(is[1 : len(is)-1])
		fields := l.fields()
		if n > len(fields) {
			err = fmt.Errorf("line %d has %s, but the command uses %s", l.Number, text.Plural(len(fields), "field"), is)
			return ""
		}
		return fields[n-1]
	}), err
}

// fields splits a line at tabs, or at commas if it has no tab.
func (l *Line) fields() []string {
	if strings.Contains(l.Text, "\t") {
		return strings.Split(l.Text, "\t")
	}
	return strings.Split(l.Text, ",")
}
