package cluster

import (
	"fmt"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/infile"
	"github.com/placectl/placectl/cmd/placectl/internal/nodefile"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
	"github.com/urfave/cli/v2"
)

func nodeLoadVerb() *session.Verb {
	return &session.Verb{
		Name:  "load",
		Usage: "record measured loads of nodes, all or none",
		May:   engine.Operators,
		Args:  []verbs.Arg{{Name: "NAME=LOAD", Many: true}},
		Description: "NAME is a node, or a node list whose nodes all get the load. LOAD is the number of busy " +
			"processors, 0 or more,\n" +
			"such as uptime prints. Give - instead of NAME=LOAD to read lines NAME LOAD or NAME=LOAD from " +
			"standard input. A\n" +
			"load stays until you record another.",
		Access:  verbs.Writes,
		Example: "placectl node load n1=0.5 n[002-016]=7.8\nmeasure-loads | placectl node load -",
		Run:     nodeLoad,
	}
}

// loadChange is a node's load, and its previous one.
type loadChange struct {
	name         string
	load, before float64
}

var loadFields = output.Fields[loadChange]{
	{Name: "name", Value: func(l loadChange) any { return l.name }},
	{Name: "load", Kind: output.Number, Value: func(l loadChange) any { return l.load }},
	{Name: "previous_load", Kind: output.Number, Value: func(l loadChange) any { return l.before }},
}

func nodeLoad(r *session.Run, c *cli.Context) error {
	loads, lines, err := readLoads(r, c)
	if err != nil {
		return session.Malformed(err)
	}
	return session.Malformed(r.Update(c, func(tx *engine.Tx) error {
		set := loadSetter{tx: tx, lines: lines, given: make(map[uint32]nodefile.Load)}
		for _, l := range loads {
			if err := set.load(l); err != nil {
				return err
			}
		}
		return session.PrintAll(r, loadFields, set.changes...)
	}))
}

// readLoads reads the arguments, or standard input. It runs before the transaction, so that a slow
// pipe blocks no other process. lines is nil if the loads are arguments.
func readLoads(r *session.Run, c *cli.Context) (loads []nodefile.Load, lines *infile.Text, err error) {
	words := c.Args().Slice()
	if len(words) == 1 && words[0] == "-" {
		label, err := r.ReadText("-")
		if err != nil {
			return nil, nil, err
		}
		loads, err = nodefile.ParseLoads(&label)
		return loads, &label, err
	}
	for _, w := range words {
		names, value, ok := strings.Cut(w, "=")
		switch {
		case w == "-":
			return nil, nil, usage.Errorf("- reads all loads and excludes NAME=LOAD")
		case !ok || names == "":
			return nil, nil, usage.Errorf("%s is not NAME=LOAD, such as n1=0.5", text.Quoted(w))
		}
		l := nodefile.Load{Names: names}
		if l.Load, err = nodefile.ParseLoad(value); err != nil {
			return nil, nil, usage.Errorf("load of %s: %w", names, err)
		}
		loads = append(loads, l)
	}
	return loads, nil, nil
}

// loadSetter sets loads, and keeps the previous ones.
type loadSetter struct {
	tx      *engine.Tx
	lines   *infile.Text             // the source of the loads, nil for arguments
	given   map[uint32]nodefile.Load // by node
	changes []loadChange
}

func (s *loadSetter) load(l nodefile.Load) error {
	numbers, err := s.tx.Nodes().Resolve(l.Names)
	if err != nil {
		if s.lines != nil { // the error keeps its kind: an unknown node is no malformed line
			err = fmt.Errorf("%v: %w", s.lines.At(l.At), err)
		}
		return err
	}
	for _, number := range numbers {
		n, err := s.tx.Nodes().ByNumber(number)
		if err != nil {
			return err
		}
		if first, twice := s.given[number]; twice {
			return s.twice(n.Name, first, l)
		}
		s.given[number] = l
		s.changes = append(s.changes, loadChange{n.Name, l.Load, n.Load})
		if n.Load == l.Load {
			continue
		}
		if err := s.tx.Nodes().SetLoad(number, l.Load); err != nil {
			return err
		}
	}
	return nil
}

func (s *loadSetter) twice(name string, first, second nodefile.Load) error {
	if s.lines == nil {
		return usage.Errorf("%s is given two loads, %g and %g", name, first.Load, second.Load)
	}
	return s.lines.Errorf(second.At, "the load of %s was already given at line %d", name, s.lines.At(first.At).Line)
}

func nodeResetUsageVerb() *session.Verb {
	return &session.Verb{
		Name:        "reset-usage",
		Usage:       "restart the usage statistics of all nodes",
		May:         engine.Operators,
		Description: "USAGE in a PRIORITYF is the part of a node's cpu time used by jobs since then.",
		Access:      verbs.Writes,
		Example:     "placectl node reset-usage",
		InTx: func(r *session.Run, tx *engine.Tx, _ *cli.Context) error {
			if err := tx.Usage().Reset(); err != nil {
				return err
			}
			p := r.Printer(
				output.Result{Record: true, Columns: []output.Column{{Name: "usage_since", Kind: output.Time}}})
			p.Row(tx.Usage().Since())
			return p.Close()
		},
	}
}
