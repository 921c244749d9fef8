// Package cluster holds the verbs that make a database and describe its nodes, resources and buckets.
package cluster

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/people"
	"github.com/placectl/placectl/internal/text"
	"github.com/urfave/cli/v2"
)

// Init declares the verb init.
func Init() *session.Verb {
	return &session.Verb{
		Name:     "init",
		Category: "Cluster",
		Usage:    "make a new, empty database",
		May:      engine.Anybody,
		Description: "--local adds this machine as a node. ncpus, ngpus, mem, vmem, swap, disk, arch, os, host and " +
			"vnode are built\n" +
			"in; --resource declares more.\n\n" +
			"A resource is NAME=TYPE[,consumable][,unique]. TYPE is long, size, float, boolean, string or " +
			"string_array.\n" +
			"Jobs use up consumable ones (long, size or float). Of others a node must have enough, or the " +
			"same value.\n" +
			"Unique ones differ from node to node and stay out of signatures.\n\n" +
			"--from copies another database, a file or one in etcd, as restore does with a backup. --db " +
			"etcd://... moves a\n" +
			"file there; --from etcd://... moves one back. FROM stays as it is.\n\n" +
			"--group makes a folder for the file and its lock file, which that group can read and write.",
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "resource", Usage: "declare `NAME=TYPE[,consumable][,unique]`; repeatable"},
			&cli.StringFlag{Category: "buckets and sets", Name: "signature",
				Usage: "resources `R,R` whose values make a bucket (all but unique ones)"},
			&cli.StringFlag{Category: "buckets and sets", Name: "group-key",
				Usage: "resources `R,R` whose values make placement sets"},
			&cli.StringFlag{Name: "policy", Usage: "`POLICY` that orders nodes (firstavailable)"},
			&cli.StringSliceFlag{Name: "set", Usage: "setting `KEY=VALUE`; repeatable"},
			&cli.BoolFlag{Name: "any-time", Usage: "accept writes at any --now: for tests and simulations"},
			&cli.StringFlag{Category: "of another database", Name: "from",
				Usage: "copy everything from database `FROM`"},
			&cli.BoolFlag{Category: "of another database", Name: "force",
				Usage: "with --from, copy even if attempts in FROM have not ended"},
			&cli.StringFlag{Name: "group", Usage: "let members of group `G` read and write the database"},
			&cli.BoolFlag{Name: "local", Usage: "add this machine as a node: its cores, memory and GPUs"},
		},
		Access:  verbs.Makes,
		Example: "placectl init --resource color=string --group-key color\nplacectl init --local",
		Run:     initialise,
	}
}

func initialise(r *session.Run, c *cli.Context) error {
	defs, err := parseDefs(c.StringSlice("resource"))
	if err != nil {
		return err
	}
	settings, err := initSettings(c)
	if err != nil {
		return err
	}
	var local *index.Node
	setup := func(tx *engine.Tx) error {
		for _, def := range defs {
			if err := tx.Config().AddResource(def); err != nil {
				return err
			}
		}
		for _, kv := range settings {
			if err := tx.Config().Set(kv[0], kv[1]); err != nil {
				return err
			}
		}
		if c.Bool("local") {
			var err error
			local, err = addLocalNode(r, tx)
			return err
		}
		return nil
	}
	auto := false
	fill := func(tx *engine.Tx) error {
		if err := setup(tx); err != nil {
			return err
		}
		settings, err := tx.Config().Settings()
		if err != nil {
			return err
		}
		auto = settings.Start == engine.StartAuto
		return printMade(r, tx, defs, local)
	}
	if c.IsSet(verbs.Key) {
		fill = r.Once(c, fill)
	}
	var answer bytes.Buffer
	out := r.Stdout
	r.Stdout = &answer
	err = create(r, c, fill)
	r.Stdout = out
	if errors.Is(err, engine.ErrExists) && c.IsSet(verbs.Key) {
		return madeBefore(r, c, err)
	}
	if err != nil {
		return err
	}
	if _, err = answer.WriteTo(r.Stdout); err == nil && auto && r.Audience().Table && !c.Bool(verbs.DryRun) {
		r.Notef("jobs start by themselves here; after a reboot your next command goes on with the queue")
	}
	return err
}

// madeBefore repeats the answer of the init that made the file with the same key. With another key
// it returns the error exists.
func madeBefore(r *session.Run, c *cli.Context, exists error) error {
	db, err := r.Open()
	if err != nil {
		return err
	}
	return r.Write(db, !c.Bool(verbs.DryRun), r.Once(c, func(*engine.Tx) error { return exists }))
}

// printMade describes the new database and its first node, if any.
func printMade(r *session.Run, tx *engine.Tx, defs []index.Def, local *index.Node) error {
	settings, err := tx.Config().Settings()
	if err != nil {
		return err
	}
	columns := []output.Column{{Name: "db"}, {Name: "format", Kind: output.Integer},
		{Name: "resources", Kind: output.List}, {Name: "start"}, {Name: "node", Detail: local == nil}}
	p := r.Printer(output.Result{Record: true, Columns: columns})
	names := []string{}
	for _, def := range defs {
		names = append(names, def.Name)
	}
	var node any
	if local != nil {
		if node, err = introduced(r, tx, local); err != nil {
			return err
		}
	}
	p.Row(r.DB, engine.Format, names, cmp.Or(settings.Start, engine.StartManual), node)
	return p.Close()
}

// create makes the file, or in a dry run a temporary one elsewhere.
func create(r *session.Run, c *cli.Context, setup func(*engine.Tx) error) error {
	path := r.DB
	if c.Bool(verbs.DryRun) {
		if engine.IsLog(path) {
			if _, err := r.OpenNamed(path); !errors.Is(err, engine.ErrNotFound) {
				return cmp.Or(err, fmt.Errorf("%s: %w", path, engine.ErrExists))
			}
		} else if _, err := os.Lstat(path); err == nil {
			return fmt.Errorf("%s: %w", path, engine.ErrExists)
		}
		dir, err := os.MkdirTemp("", "placectl-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		path = dir + "/dry-run.db"
	}
	opt := r.StoreOptions()
	opt.AnyTime = c.Bool("any-time")
	make := engine.Create
	if c.IsSet("from") {
		if c.Bool("any-time") {
			return usage.Errorf("--any-time is for a new database; --from keeps the source's")
		}
		make = func(path string, opt *engine.Options, setup func(*engine.Tx) error) error {
			return createFrom(r, c, path, opt, setup)
		}
	} else if c.Bool("force") {
		return usage.Errorf("--force needs --from")
	}
	gid := -1
	if c.IsSet("group") {
		if engine.IsLog(path) {
			return usage.Errorf("--group is for files: etcd has its own users")
		}
		is, ok := people.System.GID(c.String("group"))
		if !ok {
			return usage.Errorf("--group: there is no group %s", text.Quoted(c.String("group")))
		}
		gid = is
		if err := sharedFolder(filepath.Dir(path), gid); err != nil {
			return err
		}
	}
	err := make(path, opt, setup)
	if err == nil && gid >= 0 {
		err = shareWith(path, gid)
	}
	r.Changed = err == nil && !c.Bool(verbs.DryRun)
	return err
}

// createFrom makes a database from another.
func createFrom(r *session.Run, c *cli.Context, path string, opt *engine.Options, setup func(*engine.Tx) error) error {
	from, err := r.OpenNamed(c.String("from"))
	if err != nil {
		return err
	}
	held, err := engine.CreateFrom(path, from, &engine.FromOptions{Options: *opt, Force: c.Bool("force"), Setup: setup})
	if len(held) > 0 {
		r.Notef("%s held, because waiting jobs may have run; placectl unhold releases one",
			text.Plural(len(held), "job"))
	}
	return err
}

// initSettings gathers the settings that the flags ask for.
func initSettings(c *cli.Context) ([][2]string, error) {
	var out [][2]string
	if c.Bool("local") { // a model of other machines must not ssh to them
		out = append(out, [2]string{"start", engine.StartAuto})
	}
	if v := c.String("signature"); v != "" {
		out = append(out, [2]string{"signature", v})
	}
	if v := c.String("policy"); v != "" {
		out = append(out, [2]string{"policy", v})
	}
	if v := c.String("group-key"); v != "" {
		out = append(out, [2]string{"group_key", v})
	}
	for _, kv := range c.StringSlice("set") {
		key, value, ok := strings.Cut(kv, "=")
		if !ok || key == "" {
			return nil, usage.Errorf("--set takes KEY=VALUE, not %q", kv)
		}
		out = append(out, [2]string{strings.ReplaceAll(key, "-", "_"), value})
	}
	return out, session.CheckSettings(out)
}

// parseDefs reads resource definitions.
func parseDefs(texts []string) ([]index.Def, error) {
	var defs []index.Def
	for _, s := range texts {
		def, err := parseDef(s)
		if err != nil {
			return nil, usage.Errorf("%w", err)
		}
		defs = append(defs, def)
	}
	return defs, nil
}

func parseDef(s string) (index.Def, error) {
	name, rest, ok := strings.Cut(s, "=")
	if !ok {
		return index.Def{}, fmt.Errorf("the resource %q lacks a type: write %s=TYPE", s, s)
	}
	words := strings.Split(rest, ",")
	typ, err := index.ParseType(words[0])
	if err != nil {
		return index.Def{}, fmt.Errorf("resource %s: %w", name, err)
	}
	def := index.Def{Name: name, Type: typ}
	for _, w := range words[1:] {
		switch w {
		case "consumable":
			def.Consumable = true
		case "unique":
			def.Unique = true
		default:
			return index.Def{}, fmt.Errorf("resource %s: %q is neither consumable nor unique", name, w)
		}
	}
	return def, nil
}

// addLocalNode adds this machine as a node, with its cores, memory and GPUs.
func addLocalNode(r *session.Run, tx *engine.Tx) (*index.Node, error) {
	found, err := detectHosts(r, nil, "", false)
	if err != nil {
		return nil, err
	}
	if _, _, err = applyDetected(r, tx, found); err != nil {
		return nil, err
	}
	return tx.Nodes().Get(found[0].Name)
}

// introduced describes a new node in words. Programs get its name.
func introduced(r *session.Run, tx *engine.Tx, n *index.Node) (string, error) {
	if r.Audience().Document {
		return n.Name, nil
	}
	defs, err := tx.Config().Resources()
	if err != nil {
		return "", err
	}
	has := []string{}
	for _, a := range n.Res {
		switch def, _ := defs.Get(a.Res); def.Name {
		case "ncpus":
			has = append(has, text.Plural(int(a.Value.Num), "cpu"))
		case "mem":
			has = append(has, text.FormatSize(a.Value.Num<<10)+" of memory")
		case "ngpus":
			if a.Value.Num == 0 {
				continue
			}
			has = append(has, text.Plural(int(a.Value.Num), "GPU"))
		}
	}
	return n.Name + ", this machine: " + text.List(has, "and"), nil
}

// shareWith lets the members of a group use a new database, whatever the umask.
func shareWith(db string, gid int) error {
	for _, name := range []string{db, db + ".lock"} {
		err := os.Chown(name, -1, gid)
		if err == nil {
			err = os.Chmod(name, 0o660)
		}
		if err != nil && (name == db || !errors.Is(err, fs.ErrNotExist)) {
			return err
		}
	}
	return nil
}

// sharedFolder makes the database's folder for a group if it does not exist. New files in it
// belong to the group. An existing folder stays as it is.
func sharedFolder(dir string, gid int) error {
	if err := os.Mkdir(dir, 0o770); errors.Is(err, fs.ErrExist) {
		return nil
	} else if err != nil {
		return err
	}
	if err := os.Chown(dir, -1, gid); err != nil {
		return err
	}
	return os.Chmod(dir, 0o770|fs.ModeSetgid)
}
