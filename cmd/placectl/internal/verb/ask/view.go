package ask

import (
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/urfave/cli/v2"
)

// View declares the verb view.
func View() *session.Verb {
	name := verbs.Arg{Name: "NAME", Kind: verbs.KindView}
	return &session.Verb{
		Name:     "view",
		Category: "Asking",
		Usage:    "manage named queries, stored in the database",
		Description: "In SQL a view's name stands for the table that its SELECT returns at that time: in query, in " +
			"the shell and in\n" +
			"other views. set verifies the view. If something that it uses is removed later, list says what is " +
			"wrong with it.",
		Example: "placectl view set gpus \"SELECT name, ngpus_free FROM nodes WHERE ngpus > 0\"",
		Verbs: []*session.Verb{
			{Name: "list", Usage: "list views", May: engine.Anybody, Access: verbs.Reads, InTx: viewList,
				Example: "placectl view list"},
			{Name: "set", Usage: "make or change a view", May: engine.Operators,
				Args: []verbs.Arg{name, {Name: "SELECT"}}, Access: verbs.Writes, InTx: viewSet,
				Example: "placectl view set waiting \"SELECT job, user, wait FROM jobs WHERE state = 'queued'\""},
			{Name: "rm", Usage: "delete a view", May: engine.Operators, Args: []verbs.Arg{name}, Access: verbs.Writes,
				InTx:    viewRemove,
				Example: "placectl view rm waiting"},
		},
	}
}

func viewList(r *session.Run, tx *engine.Tx, _ *cli.Context) error {
	var list []engine.SQLView
	if err := tx.Views().Each(func(v engine.SQLView) error { list = append(list, v); return nil }); err != nil {
		return err
	}
	return printViews(r, tx, list...)
}

func viewSet(r *session.Run, tx *engine.Tx, c *cli.Context) error {
	v := engine.SQLView{Name: c.Args().Get(0), Select: c.Args().Get(1)}
	if err := tx.Views().Set(v); err != nil {
		return err
	}
	v, err := tx.Views().Get(v.Name)
	if err != nil {
		return err
	}
	return printViews(r, tx, v)
}

func viewRemove(r *session.Run, tx *engine.Tx, c *cli.Context) error {
	v, err := tx.Views().Get(c.Args().First())
	if err != nil {
		return err
	}
	if err := tx.Views().Remove(v.Name); err != nil {
		return err
	}
	return printViews(r, tx, v)
}

func printViews(r *session.Run, tx *engine.Tx, list ...engine.SQLView) error {
	p := r.Printer(
		output.Result{Columns: []output.Column{{Name: "name"}, {Name: "select"}, {Name: "fault", Kind: output.Prose}}})
	for _, v := range list {
		var fault any
		if err := tx.Views().Fault(v); err != nil {
			fault = err.Error()
		}
		p.Row(v.Name, v.Select, fault)
	}
	return p.Close()
}
