// Package ask holds the verbs that answer questions about the queue and the nodes without changing
// either: status, top, report, usage, events, query and its shell, gantt, metrics, mcp, and those that
// ask what would be: whatif, simulate, demo.
package ask

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/daily"
	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/fullscreen"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/process"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/launch"
	"github.com/urfave/cli/v2"
	"golang.org/x/term"
)

// Status declares the verb status.
func Status() *session.Verb {
	return &session.Verb{
		Name:     "status",
		Category: "Asking",
		Usage:    "show nodes, jobs and warnings on one screen",
		May:      engine.Anybody,
		Description: "Warnings tell of jobs past their end, jobs that can never run or missed their planned start, " +
			"and jobs held because they failed. They also tell of nodes that are down or were taken out for a " +
			"reason, and of a failing hook. Below each is the command that helps. top shows the same, live. -o json " +
			"has more: the sizes of the file and of the log that holds it, buckets, reservations, and when counting " +
			"of node usage began (placectl node reset-usage).",
		Access:  verbs.Reads,
		Revives: true,
		Example: "placectl status\nplacectl status -o json",
		InTx:    status,
	}
}

func status(r *session.Run, tx *engine.Tx, _ *cli.Context) error {
	s, err := daily.ReadStatus(tx, func(j *engine.Job) (string, string, error) { return r.Unverified(tx, j) })
	if err != nil {
		return err
	}
	if s.Attended, err = r.Attended(tx); err != nil {
		return err
	}
	if since, waits := s.WaitsSince(); waits {
		why, err := r.Uncycled(tx, since)
		if err != nil {
			return err
		}
		s.Warn("cycles", why, "")
	}
	why, help, err := r.StoppedKeeper(tx)
	if err != nil {
		return err
	}
	s.Warn("keeper", why, help)
	s.Warn("locks", engine.LocksOf(r.DB).Warning(r.DB), "placectl doctor")
	if engine.IsLog(r.DB) && r.Tx == nil {
		size, err := r.LogSize()
		if err != nil {
			return err
		}
		s.Log = size.Prefix
	}
	if a := r.Audience(); a.Table {
		return r.Answer(s.Text(a.Width, r.Loc, a.Blocks))
	}
	columns, row := s.Record()
	p := r.Printer(output.Result{Record: true, Columns: columns})
	p.Row(row...)
	return p.Close()
}

// Top declares the verb top.
func Top() *session.Verb {
	return &session.Verb{
		Name:     "top",
		Category: "Asking",
		Usage:    "watch running and waiting jobs",
		May:      engine.Anybody,
		Description: "Shows each resource's use by queue, running jobs (the next to end first), waiting jobs with " +
			"reasons, and the latest events. Keys: q quits, s changes the order, / shows lines with a word, f shows " +
			"events, ? shows help. The arrows choose a job: k cancels it if you say y, h holds and u unholds it, l " +
			"shows its log, e explains. top reads the database when it has changed, and never keeps it open. Without " +
			"a terminal it prints once.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "delay", Aliases: []string{"d"}, Value: "2s", Usage: "check for changes every `D`"},
			&cli.StringFlag{Name: "user", Usage: "only jobs of a `USER`"},
		},
		Access:  verbs.Reads,
		Revives: true,
		Alone:   true,
		Example: "placectl top\nplacectl top -d 10s --user ann",
		Run:     top,
	}
}

// topView is a live view of a database.
type topView struct {
	run *session.Run
	daily.Top
	user string
	seen session.FileStamp // the file's stamp when it was read
}

func top(r *session.Run, c *cli.Context) error {
	delay, err := r.Duration(c, "delay")
	if err != nil {
		return err
	}
	if delay <= 0 {
		return usage.Errorf("--delay must be a second or more")
	}
	a := r.Audience()
	v := &topView{run: r, user: c.String("user"),
		Top: daily.Top{Order: daily.Next, Title: "placectl " + filepath.Base(r.DB), Zone: r.Loc, Color: a.Color,
			Blocks: a.Blocks}}
	if err := v.look(); err != nil {
		return err
	}
	in, isFile := r.Stdin.(*os.File)
	switch {
	case !a.Table:
		return daily.PrintLines(r.Printer, v.Live.Lines)
	case !a.Terminal || !isFile || !term.IsTerminal(int(in.Fd())):
		return r.Answer(append(bytes.Join(v.Lines(a.Width, 0), []byte("\n")), '\n'))
	}
	return v.show(in, delay)
}

// look reads the database.
func (v *topView) look() error {
	v.seen = v.run.FileStamp()
	return v.run.View(func(tx *engine.Tx) (err error) {
		if v.Live, err = daily.ReadLive(tx, v.Order, v.user, v.run.Loc, v.run.Audience().Table); err != nil {
			return err
		}
		v.Top.Attended, err = v.run.Attended(tx)
		return err
	})
}

// show shows the view until you leave it.
func (v *topView) show(in *os.File, delay time.Duration) error {
	s, err := fullscreen.Open(in, os.Stdout)
	if err != nil {
		return err
	}
	defer s.Close()
	ticks := time.NewTicker(delay)
	defer ticks.Stop()
	for wish := daily.Redraw; ; {
		if wish == daily.Reread {
			// A database that is unavailable for a moment, or locked for long, is no reason to leave.
			if v.Trouble = ""; v.look() != nil {
				v.Trouble = "(cannot be read just now)"
			}
		}
		if wish != daily.Nothing {
			if err := s.Draw(v.Lines(s.Size())); err != nil {
				return err
			}
		}
		wish = daily.Nothing
		select {
		case k := <-s.Keys:
			wish = v.Press(k)
		case <-s.Resized:
			wish = daily.Redraw
		case <-ticks.C:
			switch {
			case v.Follows():
				wish = daily.Act
			case v.hasChanged():
				wish = daily.Reread
			}
		case sig := <-s.Ended:
			s.Close()
			process.DieBy(sig.(syscall.Signal))
		case <-v.run.Ctx.Done():
			return v.run.Ctx.Err()
		}
		if wish == daily.Act {
			out, complaint, status, err := launch.Self(v.run.Ctx, append([]string{"--db", v.run.DatabasePath()},
				v.Deed()...)...)
			if err != nil {
				complaint = []byte(err.Error())
			}
			v.Done(status != exit.OK, string(out)+string(complaint))
			wish = daily.Reread
		}
		if wish == daily.Quit {
			return nil
		}
	}
}

// hasChanged reports whether there is something new, through a write or through the clock alone.
func (v *topView) hasChanged() bool {
	return v.Trouble != "" || v.run.FileStamp() != v.seen || !v.Live.Due.IsZero() && !v.run.Instant().Before(v.Live.Due)
}
