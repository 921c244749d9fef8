package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func versionVerb() *verb {
	return &verb{
		Name:     "version",
		Category: "Store",
		Usage:    "what this program is, and the file format it writes",
		May:      store.Anybody,
		Brief:    true,
		Example:  "placectl version -o id",
		Run:      (*runner).version,
	}
}

func (r *runner) version(*cli.Context) error {
	p := r.printer(output.Result{
		Record: true,
		Columns: []output.Column{
			{Name: "version"},
			{Name: "commit"},
			{Name: "go"},
			{Name: "platform"},
			{Name: "format", Kind: output.Integer},
		},
	})
	version, commit := buildVersion()
	p.Row(version, commit, runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH, store.Format)
	return p.Close()
}

// What a release is built with (release/build.sh): -ldflags "-X main.stampedVersion=...".
var stampedVersion, stampedCommit string

// buildVersion reads what the build left in the program; commit is nil where
// it was built outside a checkout.
func buildVersion() (version string, commit any) {
	if stampedVersion != "" {
		return strings.TrimPrefix(stampedVersion, "v"), output.OrNil(stampedCommit)
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown", nil
	}
	version = strings.TrimPrefix(info.Main.Version, "v")
	if version == "" {
		version = "(devel)"
	}
	modified := ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = "+changes"
		}
	}
	if c, ok := commit.(string); ok {
		commit = c + modified
	}
	return version, commit
}

func upgradeVerb() *verb {
	return &verb{
		Name:     "upgrade",
		Category: "Store",
		Usage:    "bring the database to the format that this version writes",
		May:      store.Owners,
		Description: "A file is brought there by the first verb that writes to it. A database in etcd is not, because machines with\n" +
			"an older version could not read it any more (8): until upgrade, all write what that version reads, and what later\n" +
			"formats keep is not kept. Give all machines the new version first.\n\n" +
			"In a file that others may write, passes execute only jobs that their users have signed. Jobs that wait unsigned\n" +
			"are listed; --sign signs yours, and placectl unhold those of its user.",
		Flags:    []cli.Flag{&cli.BoolFlag{Name: "sign", Usage: "sign your jobs that wait: a database that others may write had no signatures before format 10"}},
		Access:   verbs.Reads, // what it writes says nothing that was not there
		Alone:    true,
		Statuses: []int{exit.Conflict, exit.Unknown, exit.Lost},
		Example:  "placectl --db etcd://e1:2379/cluster upgrade",
		Run:      (*runner).upgrade,
	}
}

func (r *runner) upgrade(c *cli.Context) error {
	db, err := r.open()
	if err != nil {
		return err
	}
	was, err := db.Upgrade()
	if err != nil {
		return err
	}
	r.changed = was != store.Format
	if err := r.unsigned(db, c.Bool("sign")); err != nil {
		return err
	}
	p := r.printer(output.Result{Record: true, Columns: []output.Column{{Name: "db"}, {Name: "was", Kind: output.Integer}, {Name: "format", Kind: output.Integer}}})
	p.Row(r.DB, was, store.Format)
	return p.Close()
}

// unsigned lists the jobs that wait without a signature, if passes ask for one, or signs
// those of this process's user.
func (r *runner) unsigned(db *store.DB, sign bool) error {
	if store.Others(r.DB) == "" {
		return nil
	}
	var waiting []uint64
	signed := 0
	look := func(tx *store.Tx) error {
		waiting, signed = nil, 0
		var mine []uint64
		err := tx.EachJob(func(j *store.Job) error {
			if len(j.Signature) > 0 || j.Attended || len(j.Command) == 0 && j.Payload == (store.PayloadKey{}) {
				return nil
			}
			own, err := r.dispatched("", os.Getuid()).Mine(tx, j)
			if sign && own {
				mine = append(mine, j.ID)
			} else {
				waiting = append(waiting, j.ID)
			}
			return err
		}, store.JobHeld, store.JobQueued, store.JobReserved)
		for _, id := range mine {
			if err == nil {
				signed++
				err = tx.Sign(id, r.sign)
			}
		}
		return err
	}
	if sign {
		if err := db.Update(look); err != nil {
			return err
		}
	} else if err := db.View(look); err != nil {
		return err
	}
	if signed > 0 {
		r.notef("%s signed", text.Plural(signed, "job"))
	}
	if len(waiting) > 0 {
		r.notef("not signed, and held by passes until their users unhold them: jobs %s", foldNumbers(waiting))
	}
	return nil
}
