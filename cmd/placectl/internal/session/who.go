package session

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // standing reservations name their zone, and some machines have no zone files

	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/environ"
	"github.com/placectl/placectl/internal/people"
	"github.com/placectl/placectl/internal/signing"
	words "github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/internal/work"
	"github.com/urfave/cli/v2"
)

// Zone returns the name of the user's time zone, for times computed later or elsewhere. It
// returns "" for UTC and for a zone without a name here.
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

// known returns name if it is that of a time zone, otherwise "".
func known(name string) string {
	if _, err := time.LoadLocation(name); err != nil || name == "UTC" {
		return ""
	}
	return name
}

// right returns the right that the command line takes, and which verb or flag takes it.
func (r *Run) right(c *cli.Context) (right engine.Right, what string) {
	v := r.Inv.Leaf()
	right, what = v.May, r.Inv.Verb()
	for flag, takes := range v.Takes {
		if c.IsSet(flag) && takes > right {
			right, what = takes, r.Inv.Verb()+" "+verbs.Dashed(flag)
		}
	}
	return right, what
}

// permitted fails if the user may not run the verb. Package store checks changes once more. This
// check refuses the verb before it has done anything.
func (r *Run) permitted(c *cli.Context) error {
	right, what := r.right(c)
	if r.Tx != nil {
		return r.Tx.Roles().Permit(right, what)
	}
	return engine.Permit(r.DB, r.StoreOptions(), right, what)
}

// actor returns who makes this run's transactions: the real uid and its name.
func (r *Run) actor() *engine.Actor {
	a := &engine.Actor{UID: uint32(os.Getuid()), Namespaced: r.Namespaced(), Member: func(group string) bool {
		return people.System.Member(r.Self(), group)
	}}
	// readers need no name, and directory services are slow
	if r.Verb == nil || !r.Verb.Brief || r.Verb.Access != verbs.Reads {
		a.User = r.Self()
	}
	return a
}

// uidOf finds the uid of a user other than that of this process.
func (r *Run) uidOf(user string) (uint32, bool) {
	if user == r.Self() {
		return uint32(os.Getuid()), true
	}
	return people.System.UID(user)
}

// Me returns the user of this process, on this host.
func (r *Run) Me() (engine.Submitter, error) {
	host, err := os.Hostname()
	uid := uint32(os.Getuid())
	return engine.Submitter{UID: uid, Name: people.System.Name(uid), Host: host}, err
}

// Unset returns the variables that describe our user and are not set in our environment, as passwd has them.
func (r *Run) Unset() []string { return environ.Missing(r.Environ(), work.Account) }

func (r *Run) whole() []string { return slices.Concat(r.Environ(), r.Unset()) }

// Home returns the home directory of this process's user: that of the environment, or else that of passwd.
func (r *Run) Home() string {
	return cmp.Or(r.Getenv("HOME"), people.System.Home(uint32(os.Getuid())))
}

// KeyPath returns the path of this user's key.
func (r *Run) KeyPath() string { return work.KeyPath(r.Getenv("HOME")) }

// Unverified says why a job is held as not signed though this user has signed it, "" if it is not: the
// process that held
// it has another key, or none, and unhold does not help. help is a command that does, "" if there is none.
func (r *Run) Unverified(tx *engine.Tx, j *engine.Job) (why, help string, err error) {
	if j.State != engine.JobHeld || j.Reason.Cause != engine.CauseUnsigned {
		return "", "", nil
	}
	text, signature, err := tx.Jobs().Signed(j.ID)
	if err != nil || len(signature) == 0 || !r.Verify(text, signature) {
		return "", "", err
	}
	own, other := r.KeyPath(), work.PasswdKey()
	k, errOther := signing.Read(other)
	switch {
	case own != other && errOther == nil && k.Verify(text, signature): // it has come since
		return "", "", nil
	case own == other:
		return fmt.Sprintf("you have signed it with %s, so the process that held it has another home directory, or "+
			"runs on a host without this key", own), "", nil
	case signing.Exists(other):
		return fmt.Sprintf("you have signed it with %s, and the queue is run with %s: make both the same", own, other),
			"", nil
	}
	help = fmt.Sprintf("install -D -m 600 %s %s; placectl unhold %d", words.ShellWord(own), words.ShellWord(other),
		j.ID)
	return fmt.Sprintf("you have signed it with %s, and where the queue looks, %s, there is no key", own, other), help,
		nil
}

// Sign signs what a job executes if others can write to the database: passes execute only signed
// jobs then.
func (r *Run) Sign(text []byte) ([]byte, error) {
	shared := engine.Others(r.DB)
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

// Verify reports whether this user has signed a text.
func (r *Run) Verify(text, signature []byte) bool {
	k, err := signing.Read(r.KeyPath())
	if err != nil && len(signature) > 0 {
		r.Notef("signatures cannot be verified here: %v", err)
	}
	return err == nil && k.Verify(text, signature)
}
