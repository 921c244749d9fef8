package main

import (
	"bytes"
	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/launch"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/daily"
	"github.com/placectl/placectl/cmd/placectl/internal/fullscreen"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/process"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
	"golang.org/x/term"
)

func statusVerb() *verb {
	return &verb{
		Name:     "status",
		Category: "Asking",
		Usage:    "one screen: what runs, what waits, what is wrong",
		May:      store.Anybody,
		Description: "What is to be looked at: jobs past their end, jobs that can never run or could not start when they were planned to,\n" +
			"jobs held because they failed, nodes that are down or were taken out for a reason, a hook that fails; below each\n" +
			"the command that does something about it. top is the same, live. -o json has more\n" +
			"numbers: the size of the file, and of the log that it is kept in, buckets, reservations, and since when the\n" +
			"usage of nodes is counted (placectl node reset-usage).",
		Access:  verbs.Reads,
		Revives: true,
		Example: "placectl status\nplacectl status -o json",
		InTx:    (*runner).status,
	}
}

func (r *runner) status(tx *store.Tx, _ *cli.Context) error {
	s, err := daily.ReadStatus(tx)
	if err != nil {
		return err
	}
	if s.Attended, err = r.attended(tx); err != nil {
		return err
	}
	if store.IsLog(r.DB) && r.tx == nil {
		size, err := r.logSize()
		if err != nil {
			return err
		}
		s.Log = size.Prefix
	}
	if a := r.audience(); a.table {
		return r.answer(s.Text(a.width, r.loc, a.blocks))
	}
	columns, row := s.Record()
	p := r.printer(output.Result{Record: true, Columns: columns})
	p.Row(row...)
	return p.Close()
}

func topVerb() *verb {
	return &verb{
		Name:     "top",
		Category: "Asking",
		Usage:    "what runs and what waits, live",
		May:      store.Anybody,
		Description: "How much of each resource is taken, by queue; what runs, the next to end first; what waits, and why; what happened\n" +
			"last. Keys: q leaves, s sorts otherwise, / shows lines that have a word, f shows events, ? helps.\n" +
			"The arrows choose a job: k cancels it, if you say y, h holds and u unholds it, l shows its log, e explains.\n" +
			"The database is read when it has changed, and is never kept open. Without a terminal, and with --once: once.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "delay", Aliases: []string{"d"}, Value: "2s", Usage: "look whether it has changed every `D`"},
			&cli.StringFlag{Name: "user", Usage: "only jobs of a `USER`"},
		},
		Access:  verbs.Reads,
		Revives: true,
		Alone:   true,
		Example: "placectl top\nplacectl top -d 10s --user ann",
		Run:     (*runner).top,
	}
}

// topView is a live view of a database.
type topView struct {
	run *runner
	daily.Top
	user string
	seen fileStamp // the stamp of the file when it was read
}

func (r *runner) top(c *cli.Context) error {
	delay, err := r.duration(c, "delay")
	if err != nil {
		return err
	}
	if delay <= 0 {
		return usagef("--delay must be a second or more")
	}
	a := r.audience()
	v := &topView{run: r, user: c.String("user"), Top: daily.Top{Order: daily.Next, Title: "placectl " + filepath.Base(r.DB), Zone: r.loc, Color: a.color, Blocks: a.blocks}}
	if err := v.look(); err != nil {
		return err
	}
	in, isFile := r.stdin.(*os.File)
	switch {
	case !a.table:
		return v.Live.PrintJobs(r.printer)
	case !a.terminal || !isFile || !term.IsTerminal(int(in.Fd())):
		return r.answer(append(bytes.Join(v.Lines(a.width, 0), []byte("\n")), '\n'))
	}
	return v.show(in, delay)
}

// look reads the database.
func (v *topView) look() error {
	v.seen = v.run.fileStamp()
	return v.run.view(func(tx *store.Tx) (err error) {
		if v.Live, err = daily.ReadLive(tx, v.Order, v.user, v.run.loc); err != nil {
			return err
		}
		v.Top.Attended, err = v.run.attended(tx)
		return err
	})
}

// show shows the view until somebody has seen enough.
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
			// A database that is away for a moment, or locked for long, is no reason to leave.
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
		case <-v.run.ctx.Done():
			return v.run.ctx.Err()
		}
		if wish == daily.Act {
			out, complaint, status, err := launch.Self(v.run.ctx, append([]string{"--db", v.run.databasePath()}, v.Deed()...)...)
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

// hasChanged reports whether there is something new: somebody has written, or the clock
// alone has brought it.
func (v *topView) hasChanged() bool {
	return v.Trouble != "" || v.run.fileStamp() != v.seen || !v.Live.Due.IsZero() && !v.run.now().Before(v.Live.Due)
}
