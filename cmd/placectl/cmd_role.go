package main

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/people"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func roleVerb() *verb {
	role := []verbs.Arg{{Name: "USER"}, {Name: "operator", Kind: verbs.KindWord}}
	return &verb{
		Name:     "role",
		Category: "Shares",
		Usage:    "who may do what: operators beside the owner of the file",
		Description: "Who somebody is follows from the real uid, whatever the environment says. The owner of the file, and root, may do\n" +
			"everything; so may operators. All others change their own jobs alone, and ask for themselves, within limits.\n" +
			"On a file that its group may write this stops mistakes, not malice: see docs/sharing.md.",
		Example: "placectl role add ann operator",
		Verbs: []*verb{
			{Name: "list", Usage: "who has a role", Access: verbs.Reads, InTx: (*runner).roleList, Example: "placectl role list"},
			{Name: "add", Usage: "give a user a role", Args: role, Access: verbs.Writes, InTx: (*runner).roleAdd, Example: "placectl role add ann operator"},
			{Name: "rm", Usage: "take a role from a user", Args: role, Access: verbs.Writes, InTx: (*runner).roleRemove, Example: "placectl role rm ann operator"},
		},
	}
}

func (r *runner) roleList(tx *store.Tx, _ *cli.Context) error {
	p := r.roles()
	if err := store.RolesOf(tx).Each(func(user, role string) error { p.Row(user, role); return nil }); err != nil {
		return err
	}
	return p.Close()
}

func (r *runner) roleAdd(tx *store.Tx, c *cli.Context) error {
	if err := store.RolesOf(tx).Add(c.Args().Get(0), c.Args().Get(1)); err != nil {
		return err
	}
	return r.printRole(c)
}

func (r *runner) roleRemove(tx *store.Tx, c *cli.Context) error {
	if err := store.RolesOf(tx).Remove(c.Args().Get(0)); err != nil {
		return err
	}
	return r.printRole(c)
}

func (r *runner) printRole(c *cli.Context) error {
	p := r.roles()
	p.Row(c.Args().Get(0), c.Args().Get(1))
	return p.Close()
}

func (r *runner) roles() *output.Printer {
	return r.printer(output.Result{Columns: []output.Column{{Name: "user"}, {Name: "role"}}})
}

// passing are the verbs that make passes and execute attempts: of others, too.
var passing = []string{"cycle", "work", "run", "supervise", "attempts", "on", "wait", "top"}

// operating are the verbs by which a cluster is changed, and not one's own jobs.
var operating = []string{"config", "resource", "queue", "pool", "node", "class", "account", "limit", "role", "preempt", "priority", "reserve", "unreserve",
	"clock", "stats", "archive", "view"}

// operatingCycle are the flags of cycle by which it is not the cycle that anybody may make.
var operatingCycle = []string{"exec", "backfill", "depth", "widest"}

// takesOperator is what of the command line takes an operator, "" for nothing.
func (r *runner) takesOperator(c *cli.Context) string {
	full := r.inv.Verb()
	first, _, _ := strings.Cut(full, " ")
	if slices.Contains(operating, first) {
		return full
	}
	for _, flag := range operatingCycle {
		if first == "cycle" && c.IsSet(flag) {
			return "cycle --" + flag
		}
	}
	return ""
}

// actor is who makes the transactions of this run: the real uid, and its name where that
// matters.
func (r *runner) actor() *store.Actor {
	a := &store.Actor{UID: uint32(os.Getuid()), Pass: r.verb != nil && slices.Contains(passing, r.verb.Name)}
	if r.isGuest(a.UID) {
		a.User = r.self()
	}
	return a
}

// isGuest reports whether the file is another user's.
func (r *runner) isGuest(uid uint32) bool {
	if uid == 0 || store.IsLog(r.DB) {
		return false
	}
	info, err := os.Stat(r.DB)
	if err != nil { // there is none yet
		return false
	}
	is, ok := info.Sys().(*syscall.Stat_t)
	return ok && is.Uid != uid
}

// me is the user whose process this is, on this host.
func (r *runner) me() (store.Submitter, error) {
	host, err := os.Hostname()
	uid := uint32(os.Getuid())
	return store.Submitter{UID: uid, Name: people.System.Name(uid), Host: host}, err
}

// shareWith lets the members of a group use a database that was just made, whatever the umask.
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

// sharedFolder makes the folder of a database for a group where there is none: what is made in it
// is the group's, too. One that is there stays as it is.
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
