package cluster

import (
	"slices"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
	"github.com/urfave/cli/v2"
)

// Resource declares the verb resource.
func Resource() *session.Verb {
	return &session.Verb{
		Name:     "resource",
		Category: "Cluster",
		Usage:    "manage the resources that nodes have and jobs request",
		Example:  "placectl resource list",
		Verbs: []*session.Verb{
			{Name: "list", Usage: "list resources", May: engine.Anybody, Access: verbs.Reads, InTx: resourceList,
				Example: "placectl resource list"},
			{Name: "add", Usage: "declare resources", May: engine.Operators,
				Args: []verbs.Arg{{Name: "NAME=TYPE[,consumable][,unique]", Many: true}}, Access: verbs.Writes,
				Run:     resourceAdd,
				Example: "placectl resource add color=string scratch=size,consumable serial=string,unique"},
			{Name: "rm", Usage: "delete unused resources", May: engine.Operators,
				Args: []verbs.Arg{{Name: "NAME", Kind: verbs.KindResource, Many: true}}, Access: verbs.Writes,
				InTx:    resourceRemove,
				Example: "placectl resource rm color"},
		},
	}
}

func resourceList(r *session.Run, tx *engine.Tx, _ *cli.Context) error {
	return printResources(r, tx, nil)
}

func resourceAdd(r *session.Run, c *cli.Context) error {
	defs, err := parseDefs(c.Args().Slice())
	if err != nil {
		return err
	}
	return r.Update(c, func(tx *engine.Tx) error {
		names := make(map[string]bool)
		for _, def := range defs {
			if err := tx.Config().AddResource(def); err != nil {
				return err
			}
			names[def.Name] = true
		}
		return printResources(r, tx, names)
	})
}

func resourceRemove(r *session.Run, tx *engine.Tx, c *cli.Context) error {
	for _, name := range c.Args().Slice() {
		if err := tx.Config().RemoveResource(name); err != nil {
			return err
		}
	}
	return printResources(r, tx, nil)
}

// printResources lists the named resources, or all.
func printResources(r *session.Run, tx *engine.Tx, names map[string]bool) error {
	defs, err := tx.Config().Resources()
	if err != nil {
		return err
	}
	set, err := tx.Config().Settings()
	if err != nil {
		return err
	}
	p := r.Printer(
		output.Result{Columns: []output.Column{{Name: "name"}, {Name: "type"},
			{Name: "consumable", Kind: output.Boolean},
			{Name: "unique", Kind: output.Boolean}, {Name: "builtin", Kind: output.Boolean},
			{Name: "signature", Kind: output.Boolean}}})
	for _, def := range defs.All() {
		if names == nil || names[def.Name] {
			p.Row(def.Name, def.Type.String(), def.Consumable, def.Unique, def.Builtin, inSignature(defs, set, def))
		}
	}
	return p.Close()
}

func inSignature(defs *index.Defs, set *engine.Settings, def index.Def) bool {
	if len(set.Signature) == 0 {
		return defs.MaySign(def)
	}
	return slices.Contains(set.Signature, def.Name)
}
