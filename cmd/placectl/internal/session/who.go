package session

import (
	"cmp"
	"os"
	"strings"
	"time"
	_ "time/tzdata" // standing reservations name their zone; not every machine has zone files

	"github.com/placectl/placectl/cmd/placectl/internal/people"
	"github.com/placectl/placectl/cmd/placectl/internal/signing"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

// Zone is the name of the user's time zone, for what has to be computed by its
// clocks later and elsewhere; "" for UTC, or when it has no name here.
func (r *Run) Zone() string {
	if name := r.Loc.String(); name != "Local" {
		return known(name)
	}
	if tz := r.Getenv("TZ"); tz != "" {
		return known(strings.TrimPrefix(tz, ":"))
	}
	link, err := os.Readlink("/etc/localtime")
	if err != nil {
		return ""
	}
	_, name, _ := strings.Cut(link, "zoneinfo/")
	return known(name)
}

// known is a name that stands for a time zone, "" for any other.
func known(name string) string {
	if _, err := time.LoadLocation(name); err != nil || name == "UTC" {
		return ""
	}
	return name
}

// right is what the command line takes, and what takes it.
func (r *Run) right(c *cli.Context) (right store.Right, what string) {
	v := r.Inv.Leaf()
	right, what = v.May, r.Inv.Verb()
	for flag, takes := range v.Takes {
		if c.IsSet(flag) && takes > right {
			right, what = takes, r.Inv.Verb()+" "+verbs.Dashed(flag)
		}
	}
	return right, what
}

// permitted fails if who runs the verb may not. What a verb changes package store looks at
// once more; here the verb is refused before it has done anything.
func (r *Run) permitted(c *cli.Context) error {
	right, what := r.right(c)
	if r.Tx != nil {
		return r.Tx.Roles().Permit(right, what)
	}
	return store.Permit(r.DB, r.StoreOptions(), right, what)
}

// actor makes the transactions of this run: the real uid, and its name.
func (r *Run) actor() *store.Actor {
	a := &store.Actor{UID: r.uid(), Namespaced: r.Namespaced(), Member: func(group string) bool { return people.System.Member(r.Self(), group) }}
	if r.Verb == nil || !r.Verb.Brief || r.Verb.Access != verbs.Reads { // readers need no name, and a directory service takes long
		a.User = r.Self()
	}
	return a
}

// uidOf finds the uid of another user than the one of this process.
func (r *Run) uidOf(user string) (uint32, bool) {
	if r.asker != nil {
		return r.asker.uidOf(user)
	}
	if user == r.Self() {
		return r.uid(), true
	}
	return people.System.UID(user)
}

// Me is the user whose process this is, on this host.
func (r *Run) Me() (store.Submitter, error) {
	if r.asker != nil {
		return r.asker.From, nil
	}
	host, err := os.Hostname()
	uid := uint32(os.Getuid())
	return store.Submitter{UID: uid, Name: people.System.Name(uid), Host: host}, err
}

// KeyPath is where the key of this process's user lies.
func (r *Run) KeyPath() string {
	return signing.Path(cmp.Or(r.Getenv("HOME"), people.System.Home(uint32(os.Getuid()))))
}

// Sign signs what a job executes, if others may have written what the database says: a pass
// executes nothing else then.
func (r *Run) Sign(text []byte) ([]byte, error) {
	shared := store.Others(r.DB)
	if shared == "" {
		return nil, nil
	}
	k, err := signing.ReadOrMake(r.KeyPath())
	if err != nil {
		r.Notef("the job is not signed, and passes hold it, because %s: %v", shared, err)
		return nil, nil
	}
	return k.Sign(text), nil
}

// Verify reports whether this process's user has signed a text.
func (r *Run) Verify(text, signature []byte) bool {
	k, err := signing.Read(r.KeyPath())
	if err != nil && len(signature) > 0 {
		r.Notef("signatures cannot be verified here: %v", err)
	}
	return err == nil && k.Verify(text, signature)
}
