package listing

import (
	"slices"

	"github.com/placectl/placectl/cmd/placectl/internal/nodefile"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/index"
)

// Survey looks at the nodes of a list, one after the other, and tells then which columns
// the list has. So a list of any length is gone through twice, and never held.
type Survey struct {
	Named bool // one of the nodes names devices

	columns output.Fields[*Node] // the columns of each list, whatever the nodes
	says    []bool               // of each of those: it says something of a node
	defs    *index.Defs
	used    []bool  // by number of a resource: a node has it
	widths  *widths // nil if there is room for all
}

// NewSurvey begins a survey. A printer is for a list that has to fit, and measures.
func NewSurvey(defs *index.Defs, columns output.Fields[*Node], measure *output.Printer) *Survey {
	s := &Survey{columns: columns, says: make([]bool, len(columns)), defs: defs, used: []bool{}}
	if measure != nil {
		s.widths = newWidths(measure, slices.Concat(columns, resourceColumns(defs, nil)))
	}
	return s
}

// See looks at one node more.
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

// Columns are the columns of the list, without those of devices. A brief one has none
// that say nothing of any node, nor a node's number, which people do not need.
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

// Resources are the columns of the resources that any of the nodes has, and behind them
// what is free of each that jobs use up.
func (s *Survey) Resources() output.Fields[*Node] { return resourceColumns(s.defs, s.used) }

// resourceColumns are the columns of some resources, nil for all.
func resourceColumns(defs *index.Defs, of []bool) output.Fields[*Node] {
	var cols, free output.Fields[*Node]
	for _, def := range defs.All() {
		if of != nil && (int(def.ID) >= len(of) || !of[def.ID]) {
			continue
		}
		kind := resourceKind(def.Type)
		cols = append(cols, output.Field[*Node]{Name: def.Name, Kind: kind, Value: func(n *Node) any { return resourceValue(n, def) }})
		if _, clash := defs.Lookup(def.Name + nodefile.FreeSuffix); def.Consumable && !clash {
			free = append(free, output.Field[*Node]{Name: def.Name + nodefile.FreeSuffix, Kind: kind, Value: func(n *Node) any { return freeValue(n, def) }})
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
