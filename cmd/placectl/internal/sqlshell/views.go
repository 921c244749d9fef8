package sqlshell

import (
	"regexp"
	"strings"
	"sync"

	"github.com/placectl/placectl/query"
)

// SetView adds a view to those of a session, or takes one away.
func SetView(views map[string]*query.View, text string, v *query.View) error {
	name := strings.ToLower(v.Name)
	_, there := views[name]
	switch {
	case v.Drop && there:
		delete(views, name)
	case v.Drop && !v.If:
		return &query.Error{Text: text, Offset: v.Pos(), Msg: "no view " + v.Name}
	case !v.Drop && there && !v.If:
		return &query.Error{Text: text, Offset: v.Pos(), Msg: "there is a view " + v.Name + " already: DROP VIEW takes it away"}
	case !v.Drop && !there:
		views[name] = v
	}
	return nil
}

// named finds tables behind FROM and JOIN with their aliases.
var named = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:\bfrom|\bjoin|,)\s+([a-z_][a-z0-9_]*)(?:\s+at\s+'[^']*')?(?:\s+(?:as\s+)?([a-z_][a-z0-9_]*))?`)
})

// aliases are the tables of a statement and what they are called in it.
func aliases(line string) [][2]string {
	var out [][2]string
	for _, m := range named().FindAllStringSubmatch(line, -1) {
		if m[2] != "" {
			out = append(out, [2]string{strings.ToLower(m[1]), m[2]})
		}
	}
	return out
}

// tableOf is the table that the word before a point means.
func (s *Shell) tableOf(line string, point int) string {
	start := point
	for start > 0 && (line[start-1] == '_' || line[start-1]|0x20 >= 'a' && line[start-1]|0x20 <= 'z' || line[start-1] >= '0' && line[start-1] <= '9') {
		start--
	}
	word := strings.ToLower(line[start:point])
	for _, alias := range aliases(line) {
		if strings.ToLower(alias[1]) == word {
			return alias[0]
		}
	}
	return word
}
