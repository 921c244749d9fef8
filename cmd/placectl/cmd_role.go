package main

import (
	"cmp"
	"errors"
	"io/fs"
	"os"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/people"
	"github.com/placectl/placectl/cmd/placectl/internal/signing"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func roleVerb() *verb {
	role := []verbs.Arg{{Name: "USER"}, {Name: "operator", Kind: verbs.KindWord}}
	return &verb{
		Name:     "role",
		Category: "Shares",
		Usage:    "show or change who operates the cluster",
		Description: "You are known by your real uid, whatever the environment says. The owner of the database and root may do\n" +
			"everything; operators may do all but what touches the file as a whole, roles, and settings that name programs.\n" +
			"You change your own jobs alone, and ask for yourself, within limits. On a file that its group may write this\n" +
			"stops mistakes, not malice: see docs/sharing.md.",
		Example: "placectl role add ann operator",
		Verbs: []*verb{
			{Name: "list", Usage: "who has a role", May: store.Anybody, Access: verbs.Reads, InTx: (*runner).roleList, Example: "placectl role list"},
			{Name: "add", Usage: "give a user a role", May: store.Owners, Args: role, Access: verbs.Writes, InTx: (*runner).roleAdd, Example: "placectl role add ann operator"},
			{Name: "rm", Usage: "take a role from a user", May: store.Owners, Args: role, Access: verbs.Writes, InTx: (*runner).roleRemove, Example: "placectl role rm ann operator"},
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

// right is what the command line takes, and what takes it.
func (r *runner) right(c *cli.Context) (right store.Right, what string) {
	v := r.inv.Leaf()
	right, what = v.May, r.inv.Verb()
	for flag, takes := range v.Takes {
		if c.IsSet(flag) && takes > right {
			right, what = takes, r.inv.Verb()+" "+verbs.Dashed(flag)
		}
	}
	return right, what
}

// permitted fails if who runs the verb may not. What a verb changes package store looks at
// once more; here the verb is refused before it has done anything.
func (r *runner) permitted(c *cli.Context) error {
	right, what := r.right(c)
	if r.tx != nil {
		return store.RolesOf(r.tx).Permit(right, what)
	}
	return store.Permit(r.DB, r.storeOptions(), right, what)
}

// actor makes the transactions of this run: the real uid, and its name.
func (r *runner) actor() *store.Actor {
	a := &store.Actor{UID: r.uid(), Namespaced: r.namespaced(), Member: func(group string) bool { return people.System.Member(r.self(), group) }}
	if r.verb == nil || !r.verb.Brief || r.verb.Access != verbs.Reads { // readers need no name, and a directory service takes long
		a.User = r.self()
	}
	return a
}

// uidOf finds the uid of another user than the one of this process.
func (r *runner) uidOf(user string) (uint32, bool) {
	if r.asker != nil {
		return r.asker.uidOf(user)
	}
	if user == r.self() {
		return r.uid(), true
	}
	return people.System.UID(user)
}

// me is the user whose process this is, on this host.
func (r *runner) me() (store.Submitter, error) {
	if r.asker != nil {
		return r.asker.From, nil
	}
	host, err := os.Hostname()
	uid := uint32(os.Getuid())
	return store.Submitter{UID: uid, Name: people.System.Name(uid), Host: host}, err
}

// keyPath is where the key of this process's user lies.
func (r *runner) keyPath() string {
	return signing.Path(cmp.Or(r.getenv("HOME"), people.System.Home(uint32(os.Getuid()))))
}

// sign signs what a job executes, if others may have written what the database says: a pass
// executes nothing else then.
func (r *runner) sign(text []byte) ([]byte, error) {
	shared := store.Others(r.DB)
	if shared == "" {
		return nil, nil
	}
	k, err := signing.ReadOrMake(r.keyPath())
	if err != nil {
		r.notef("the job is not signed, and passes hold it, since %s: %v", shared, err)
		return nil, nil
	}
	return k.Sign(text), nil
}

// verify reports whether this process's user has signed a text.
func (r *runner) verify(text, signature []byte) bool {
	k, err := signing.Read(r.keyPath())
	if err != nil && len(signature) > 0 {
		r.notef("no signature can be verified here: %v", err)
	}
	return err == nil && k.Verify(text, signature)
}

// unhold lets a held job wait for its turn, and signs what it executes if it is the job of
// this process's user.
func (r *runner) unhold(tx *store.Tx, id uint64) (*store.Job, error) {
	j, err := tx.Unhold(id)
	if err != nil || store.Others(r.DB) == "" {
		return j, err
	}
	text, signature, err := tx.Signed(id)
	mine, errMine := r.dispatched("", os.Getuid()).Mine(tx, j)
	if err = errors.Join(err, errMine); err != nil || !mine || r.verify(text, signature) {
		return j, err
	}
	if err := tx.Sign(id, r.sign); err != nil {
		return nil, err
	}
	r.notef("job %d was not signed by you, and is now: placectl show %d says what it executes", id, id)
	return tx.Job(id)
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
