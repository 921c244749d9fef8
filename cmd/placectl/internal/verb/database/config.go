// Package database holds the verbs that look after the file as a whole: settings, check, backup, dump,
// compact, salvage, upgrade and their like.
package database

import (
	"fmt"
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
	"github.com/urfave/cli/v2"
)

// Config declares the verb config.
func Config() *session.Verb {
	return &session.Verb{
		Name:     "config",
		Category: "Cluster",
		Usage:    "show and change settings",
		Description: "list shows settings that were set, --all also those that have their default, and -v says what " +
			"each is for;\n" +
			"-o json and csv have it all. In names, - and _ are the same. A verb's flag with the name of a setting " +
			"overrides\n" +
			"it.",
		Example: "placectl config list\nplacectl config set overdue=finish",
		Verbs: []*session.Verb{
			{Name: "list", Usage: "list settings", May: engine.Anybody, Access: verbs.Reads, InTx: configList,
				Flags:   []cli.Flag{&cli.BoolFlag{Name: "all", Usage: "include those that have their default"}},
				Example: "placectl config list\nplacectl config list --all -v"},
			{Name: "get", Usage: "show one setting", May: engine.Anybody,
				Args: []verbs.Arg{{Name: "NAME", Kind: verbs.KindSetting}}, Access: verbs.Reads, InTx: configGet,
				Example: "placectl config get group_key"},
			{Name: "set", Usage: "change settings; an empty value restores the default", May: engine.Operators,
				Args: []verbs.Arg{{Name: "NAME=VALUE", Kind: verbs.KindAssignment, Many: true}}, Access: verbs.Writes,
				Run:     configSet,
				Example: "placectl config set group_key=switch default_walltime=1800"},
		},
	}
}

var settingFields = output.Fields[engine.Setting]{
	{Name: "name", Value: func(s engine.Setting) any { return s.Name }},
	{Name: "value", Value: func(s engine.Setting) any { return s.Value }},
	{Name: "default", Value: func(s engine.Setting) any { return s.Default }},
	{Name: "set", Kind: output.Boolean, Value: func(s engine.Setting) any { return s.Set }},
	{Name: "doc", Value: func(s engine.Setting) any { return s.Doc }},
}

func configList(r *session.Run, tx *engine.Tx, c *cli.Context) error {
	settings, err := tx.Config().AllSettings()
	if err != nil {
		return err
	}
	if all := len(settings); r.Audience().Table && !c.Bool("all") {
		settings = slices.DeleteFunc(settings, func(s engine.Setting) bool { return !s.Set })
		r.Notef("%s at the default; placectl config list --all lists all", text.Plural(all-len(settings), "setting"))
	}
	return printSettings(r, settings)
}

// printSettings prints settings: what people want to know first, in a table.
func printSettings(r *session.Run, settings []engine.Setting) error {
	fields := settingFields
	switch {
	case r.Audience().Table && r.Verbose:
		fields = fields.Pick("name value doc")
	case r.Audience().Table:
		fields = fields.Pick("name value")
	}
	return session.PrintAll(r, fields, settings...)
}

func configGet(r *session.Run, tx *engine.Tx, c *cli.Context) error {
	settings, err := tx.Config().AllSettings()
	if err != nil {
		return err
	}
	name := settingName(c.Args().First())
	i := slices.IndexFunc(settings, func(s engine.Setting) bool { return s.Name == name })
	if i < 0 {
		return fmt.Errorf("no setting %q%s: %w", name, index.DidYouMean(name, engine.SettingNames()),
			engine.ErrNotFound)
	}
	p := r.Printer(output.Result{Record: true, ID: 1, Columns: settingFields.Columns()})
	settingFields.Print(p, settings[i])
	return p.Close()
}

// settingName accepts - for _ in a setting's name.
func settingName(s string) string { return strings.ReplaceAll(s, "-", "_") }

func configSet(r *session.Run, c *cli.Context) error {
	var pairs [][2]string
	for _, arg := range c.Args().Slice() {
		name, value, ok := strings.Cut(arg, "=")
		if !ok {
			if names := engine.SettingNames(); c.NArg() == 2 && slices.Contains(names, settingName(arg)) {
				return usage.Errorf("%q is not NAME=VALUE: write %s=%s", arg, arg, text.ShellWord(c.Args().Get(1)))
			}
			return usage.Errorf("%q is not NAME=VALUE", arg)
		}
		pairs = append(pairs, [2]string{settingName(name), value})
	}
	if err := session.CheckSettings(pairs); err != nil {
		return err
	}
	return r.Update(c, func(tx *engine.Tx) error {
		for _, kv := range pairs {
			if err := tx.Config().Set(kv[0], kv[1]); err != nil {
				return err
			}
		}
		settings, err := tx.Config().AllSettings()
		if err != nil {
			return err
		}
		return printSettings(r, slices.DeleteFunc(settings, func(s engine.Setting) bool {
			return !slices.ContainsFunc(pairs, func(kv [2]string) bool { return kv[0] == s.Name })
		}))
	})
}
