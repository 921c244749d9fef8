package sqlshell

import (
	"strings"

	"github.com/placectl/placectl/query/fault"
	"github.com/placectl/placectl/query/syntax"
)

// SetView adds a view to those of a session, or removes one.
func SetView(views map[string]*syntax.View, text string, v *syntax.View) error {
	name := strings.ToLower(v.Name)
	_, there := views[name]
	switch {
	case v.Drop && there:
		delete(views, name)
	case v.Drop && !v.If:
		return &fault.Error{Text: text, Offset: v.Pos(), Msg: "no view " + v.Name}
	case !v.Drop && there && !v.If:
		return &fault.Error{Text: text, Offset: v.Pos(),
			Msg: "there is a view " + v.Name + " already: DROP VIEW takes it away"}
	case !v.Drop && !there:
		views[name] = v
	}
	return nil
}
