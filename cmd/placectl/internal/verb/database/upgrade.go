package database

import (
	"os"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
	"github.com/urfave/cli/v2"
)

// Upgrade declares the verb upgrade.
func Upgrade() *session.Verb {
	return &session.Verb{
		Name:     "upgrade",
		Category: "Store",
		Usage:    "upgrade the database to this version's format",
		May:      engine.Owners,
		Description: "The first verb that writes to a file upgrades it. A database in etcd needs this verb, because " +
			"machines with an\n" +
			"older version can then no longer read it (8). Until then, all write what that version reads, and data " +
			"that only\n" +
			"later formats have is not kept. Install the new version on all machines first.\n\n" +
			"In a file that others may write, passes execute only jobs that their users have signed. The answer " +
			"lists waiting\n" +
			"unsigned jobs. --sign signs yours; other users sign theirs with placectl unhold.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "sign", Usage: "sign your waiting jobs: they have no signature if they were " +
				"submitted before others could write the file"},
			verbs.DryRunFlag(),
		},
		Access:   verbs.Reads, // the signatures it writes add no data
		Alone:    true,
		Statuses: map[int]string{exit.Conflict: "", exit.Unknown: "", exit.Lost: ""},
		Example:  "placectl --db etcd://e1:2379/cluster upgrade",
		Run:      upgrade,
	}
}

func upgrade(r *session.Run, c *cli.Context) error {
	db, err := r.Open()
	if err != nil {
		return err
	}
	upgrade := db.Upgrade
	if r.Dry {
		upgrade = db.DryUpgrade
	}
	was, err := upgrade()
	if err != nil {
		return err
	}
	r.Changed = was != engine.Format && !r.Dry
	if err := unsigned(r, db, c.Bool("sign")); err != nil {
		return err
	}
	p := r.Printer(
		output.Result{Record: true, Columns: []output.Column{{Name: "db"}, {Name: "was", Kind: output.Integer},
			{Name: "format", Kind: output.Integer}}})
	p.Row(r.DB, was, engine.Format)
	return p.Close()
}

// unsigned lists the waiting jobs without a signature if passes ask for one. With sign it signs
// those of this user.
func unsigned(r *session.Run, db *engine.DB, sign bool) error {
	if engine.Others(r.DB) == "" {
		return nil
	}
	var waiting []uint64
	signed := 0
	look := func(tx *engine.Tx) error {
		waiting, signed = nil, 0
		var mine []uint64
		err := tx.Jobs().Each(func(j *engine.Job) error {
			if len(j.Signature) > 0 || j.Attended || len(j.Command) == 0 && j.Payload == (engine.PayloadKey{}) {
				return nil
			}
			own, err := r.Dispatched("", os.Getuid()).Mine(tx, j)
			if sign && own {
				mine = append(mine, j.ID)
			} else {
				waiting = append(waiting, j.ID)
			}
			return err
		}, engine.JobHeld, engine.JobQueued, engine.JobReserved)
		for _, id := range mine {
			if err == nil && !r.Dry {
				err = tx.Jobs().Sign(id, r.Sign)
			}
			signed++
		}
		return err
	}
	if sign && !r.Dry {
		if err := db.Update(look); err != nil {
			return err
		}
	} else if err := db.View(look); err != nil {
		return err
	}
	if signed > 0 {
		r.Notef("%s signed", text.Plural(signed, "job"))
	}
	if len(waiting) > 0 {
		r.Notef("not signed, so passes hold them until their users unhold them: jobs %s", text.Ranges(waiting))
	}
	return nil
}
