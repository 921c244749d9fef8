package listing

import (
	"slices"

	"github.com/placectl/placectl/cmd/placectl/internal/nodefile"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/index"
)

// Survey goes through the nodes of a list to find out which columns the list needs. So a list of any
// length is read twice, and never held in memory.
type Survey struct {
	Named bool // a node names devices

	columns output.Fields[*Node] // the columns of every list
	says    []bool               // whether each of those says something about a node
	defs    *index.Defs
	used    []bool  // whether a node has the resource, by its number
	widths  *widths // nil if there is room for everything
}

// NewSurvey begins a survey. With a printer, it also measures widths for a list that must fit.
func NewSurvey(defs *index.Defs, columns output.Fields[*Node], measure *output.Printer) *Survey {
	s := &Survey{columns: columns, says: make([]bool, len(columns)), defs: defs, used: []bool{}}
	if measure != nil {
		s.widths = newWidths(measure, slices.Concat(columns, resourceColumns(defs, nil)))
	}
	return s
}

// See looks at another node.
func (s *Survey) See(n *Node) {
	for i := range s.columns {
		s.says[i] = s.says[i] || !saysNothing(s.columns[i].Value(n))
	}
	for _, a := range n.Res {
		for int(a.Res) >= len(s.used) {
			s.used = append(s.used, false)
		}
		s.used[a.Res] = true
	}
	s.Named = s.Named || len(n.Devices) > 0
	if s.widths != nil {
		s.widths.see(n)
	}
}

// Columns returns the columns of the list, without those of devices. A brief list omits columns that say
// nothing about any node, and the nodes' numbers, which people do not need.
func (s *Survey) Columns(brief bool) output.Fields[*Node] {
	var kept output.Fields[*Node]
	for i, c := range s.columns {
		switch c.Name {
		case "name", "state", "bucket":
			kept = append(kept, c)
		case "number":
			if !brief {
				kept = append(kept, c)
			}
		default:
			if !brief || s.says[i] {
				kept = append(kept, c)
			}
		}
	}
	return kept
}

// Resources returns the columns of the resources that any of the nodes has. Behind each come those for
// what is free of consumable ones.
func (s *Survey) Resources() output.Fields[*Node] { return resourceColumns(s.defs, s.used) }

// resourceColumns returns the columns of some resources, nil for all.
func resourceColumns(defs *index.Defs, of []bool) output.Fields[*Node] {
	var cols, free output.Fields[*Node]
	for _, def := range defs.All() {
		if of != nil && (int(def.ID) >= len(of) || !of[def.ID]) {
			continue
		}
		kind := resourceKind(def.Type)
		cols = append(cols, output.Field[*Node]{Name: def.Name, Kind: kind, Value: func(n *Node) any {
			return resourceValue(n, def)
		}})
		if _, clash := defs.Lookup(def.Name + nodefile.FreeSuffix); def.Consumable && !clash {
			free = append(free, output.Field[*Node]{Name: def.Name + nodefile.FreeSuffix, Kind: kind,
				Value: func(n *Node) any { return freeValue(n, def) }})
		}
	}
	return append(cols, free...)
}

// saysNothing reports whether a value is unset.
func saysNothing(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case []string:
		return len(v) == 0
	case float64:
		return v == 0
	}
	n, ok := output.WholeNumber(v)
	return ok && n == 0
}
