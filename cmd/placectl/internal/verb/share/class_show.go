package share

import (
	"fmt"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/placer/fairshare"
	"github.com/urfave/cli/v2"
)

func classShowVerb() *session.Verb {
	return &session.Verb{
		Name:  "show",
		Usage: "list the classes and all settings of shares",
		May:   engine.Anybody,
		Description: "Tables and JSON show everything; csv, tsv, line and id show only the classes. load_pct is " +
			"the load as a\n" +
			"percentage of all loads. out_of_balance_since is when the spread reached the threshold of rebalancing.",
		Access:  verbs.Reads,
		Example: "placectl class show",
		InTx:    classShow,
	}
}

func classShow(r *session.Run, tx *engine.Tx, _ *cli.Context) error { return printShares(r, tx) }

// The types of the JSON document.
type (
	classObject struct {
		Name    string   `json:"name"`
		Load    int      `json:"load"`
		LoadPct int      `json:"load_pct"`
		Allow   []string `json:"allow"`
	}
	mappingObject struct {
		Class     string `json:"class"`
		Requestor string `json:"requestor"`
	}
)

// printShares prints the present settings.
func printShares(r *session.Run, tx *engine.Tx) error {
	s, err := tx.Shares().Get()
	if err != nil {
		return err
	}
	classes, err := classObjects(s)
	if err != nil {
		return err
	}
	return r.Either(func(f output.Format) bool { return f.Traits().Document },
		func() error { return printShareSettings(r, tx, s, classes, true) },
		func() error { return printShareTables(r, tx, s, classes) })
}

// printShareTables prints the settings as tables: the classes, and for class list the rest, too.
func printShareTables(r *session.Run, tx *engine.Tx, s *fairshare.Settings, classes []classObject) error {
	p := r.Printer(output.Result{Columns: []output.Column{{Name: "name"}, {Name: "load", Kind: output.Integer},
		{Name: "load_pct", Kind: output.Integer}, {Name: "allow", Kind: output.List, Detail: true}}})
	for _, c := range classes {
		p.Row(c.Name, c.Load, c.LoadPct, c.Allow)
	}
	if err := p.Close(); err != nil {
		return err
	}
	return r.InForms(func(f output.Format) bool { return f == output.Table }, func() error {
		return printShareRest(r, tx, s)
	})
}

func printShareRest(r *session.Run, tx *engine.Tx, s *fairshare.Settings) error {
	if len(s.Map) > 0 {
		fmt.Fprintln(r.Stdout)
		p := r.Printer(output.Result{Columns: []output.Column{{Name: "requestor"}, {Name: "class"}}})
		for _, m := range s.Map {
			p.Row(m.Requestor, m.Class)
		}
		if err := p.Close(); err != nil {
			return err
		}
	}
	fmt.Fprintln(r.Stdout)
	return printShareSettings(r, tx, s, nil, false)
}

// printShareSettings prints the settings that occur once, and in a document the lists as well.
func printShareSettings(r *session.Run, tx *engine.Tx, s *fairshare.Settings, classes []classObject,
	document bool) error {
	set, err := tx.Config().Settings()
	if err != nil {
		return err
	}
	timer, err := tx.Shares().Timer()
	if err != nil {
		return err
	}
	var since any
	if timer.Running {
		since = timer.Since
	}
	res := output.Result{Record: true, Columns: []output.Column{{Name: "default"}, {Name: "unit"},
		{Name: "rebalance_threshold", Kind: output.Integer},
		{Name: "rebalance_minimum", Kind: output.Duration}, {Name: "out_of_balance_since", Kind: output.Time}}}
	row := []any{output.OrNil(s.DefaultClass()), set.ShareUnit, s.RebalanceThreshold(), s.RebalanceMinimumDuration(),
		since}
	if document || s.Spare != (fairshare.Spare{}) {
		res.Columns = append(res.Columns, output.Column{Name: "rebalance_min_run", Kind: output.Duration},
			output.Column{Name: "rebalance_at_most", Kind: output.Integer})
		row = append(row, s.Spare.MinRun, s.Spare.AtMost)
	}
	if document {
		mappings := make([]mappingObject, len(s.Map))
		for i, m := range s.Map {
			mappings[i] = mappingObject(m)
		}
		res.Columns = append([]output.Column{{Name: "classes", Kind: output.Object},
			{Name: "map", Kind: output.Object}}, res.Columns...)
		row = append([]any{classes, mappings}, row...)
	}
	p := r.Printer(res)
	p.Row(row...)
	return p.Close()
}

// classObjects returns the classes as they were set, with their share of the total load, and who may
// ask for them.
func classObjects(s *fairshare.Settings) ([]classObject, error) {
	classes, _ := s.NewClasses()
	plan, err := new(fairshare.Planner).Plan(&fairshare.State{Classes: classes})
	if err != nil {
		return nil, err
	}
	out := make([]classObject, len(classes))
	for i, c := range plan.Classes {
		out[i] = classObject{c.Name, classes[i].Load, c.LoadPct, append([]string{}, s.Allowed(c.Name)...)}
	}
	return out, nil
}
