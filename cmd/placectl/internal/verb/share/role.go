package share

import (
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/urfave/cli/v2"
)

// Role declares the verb role.
func Role() *session.Verb {
	role := []verbs.Arg{{Name: "USER"}, {Name: "operator", Kind: verbs.KindWord}}
	return &session.Verb{
		Name:     "role",
		Category: "Shares",
		Usage:    "show or change who operates the cluster",
		Description: "Your real uid says who you are, not your environment. The owner of the database and " +
			"root may do\n" +
			"everything. Operators may do everything except change the file as a whole, roles, and settings " +
			"that name\n" +
			"programs. Everyone else may change their own jobs, and submit as themselves, within limits. On a " +
			"file that\n" +
			"its group may write, roles stop mistakes, not malice: see docs/recipes.md.",
		Example: "placectl role add ann operator",
		Verbs: []*session.Verb{
			{Name: "list", Usage: "list roles", May: engine.Anybody, Access: verbs.Reads, InTx: roleList,
				Example: "placectl role list"},
			{Name: "add", Usage: "give a user a role", May: engine.Owners, Args: role, Access: verbs.Writes,
				InTx: roleAdd, Example: "placectl role add ann operator"},
			{Name: "rm", Usage: "take a role from a user", May: engine.Owners, Args: role, Access: verbs.Writes,
				InTx: roleRemove, Example: "placectl role rm ann operator"},
		},
	}
}

func roleList(r *session.Run, tx *engine.Tx, _ *cli.Context) error {
	p := roles(r)
	if err := tx.Roles().Each(func(user, role string) error { p.Row(user, role); return nil }); err != nil {
		return err
	}
	return p.Close()
}

func roleAdd(r *session.Run, tx *engine.Tx, c *cli.Context) error {
	if err := tx.Roles().Add(c.Args().Get(0), c.Args().Get(1)); err != nil {
		return err
	}
	return printRole(r, c)
}

func roleRemove(r *session.Run, tx *engine.Tx, c *cli.Context) error {
	if err := tx.Roles().Remove(c.Args().Get(0)); err != nil {
		return err
	}
	return printRole(r, c)
}

func printRole(r *session.Run, c *cli.Context) error {
	p := roles(r)
	p.Row(c.Args().Get(0), c.Args().Get(1))
	return p.Close()
}

func roles(r *session.Run) *output.Printer {
	return r.Printer(output.Result{Columns: []output.Column{{Name: "user"}, {Name: "role"}}})
}
