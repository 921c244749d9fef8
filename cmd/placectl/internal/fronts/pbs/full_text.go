package pbs

import (
	"cmp"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
)

// full1 writes qstat -f for an entry.
func (s *status) full1(e *entry) {
	if s.set["F"] == "dsv" {
		delimiter := cmp.Or(s.set["D"], "|")
		s.b.WriteString("Job Id: " + s.name(e))
		for _, a := range s.attributes(e) {
			s.b.WriteString(delimiter + a.key() + "=" + fronts.OneLine(strings.TrimSpace(a.value)))
		}
		s.b.WriteByte('\n')
		return
	}
	s.b.WriteString("Job Id: " + s.name(e) + "\n")
	var variables []string
	for _, a := range s.attributes(e) {
		if a.name == "Variable_List" {
			variables = append(variables, a.resource+"="+strings.TrimSpace(a.value))
			continue
		}
		if len(variables) > 0 {
			s.line("Variable_List", strings.Join(variables, ","))
			variables = nil
		}
		s.line(a.key(), a.value)
	}
	if len(variables) > 0 {
		s.line("Variable_List", strings.Join(variables, ","))
	}
	s.b.WriteByte('\n')
}

func (a attribute) key() string {
	if a.resource == "" {
		return a.name
	}
	return a.name + "." + a.resource
}

// line writes an attribute. A long one continues after a newline and a tab, unless -w or -1 is given.
func (s *status) line(key, value string) {
	const width = 78
	value = fronts.OneLine(value)
	text := "    " + key + " = " + value
	if s.set.Has("w", "1") || len(text) <= width {
		s.b.WriteString(text + "\n")
		return
	}
	room := width
	for len(text) > room {
		at := strings.LastIndexByte(text[:room], ',')
		if at < len(key)+7 && room == width || at <= 0 {
			at = room - 1
		}
		s.b.WriteString(text[:at+1] + "\n\t")
		text, room = text[at+1:], width-8
	}
	s.b.WriteString(text + "\n")
}
