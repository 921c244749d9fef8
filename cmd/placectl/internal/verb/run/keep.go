package run

import (
	"runtime"

	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/gate"
	"github.com/placectl/placectl/internal/launch"
	"github.com/urfave/cli/v2"
)

// Keep declares the verb keep.
func Keep() *session.Verb {
	return &session.Verb{
		Name:     "keep",
		Category: "Queue",
		Hidden:   true,
		Usage:    "execute your jobs on this host and report their ends",
		May:      engine.Anybody,
		Description: "Passes start it: work, cycle --launch, and the queue runner. It claims the " +
			"attempts that wait\n" +
			"for this host and executes their commands with what the jobs carry. It ends them at their " +
			"walltime or when\n" +
			"they must stop, and reports. It ends after ten seconds with nothing to do. You may start any " +
			"number: one of\n" +
			"them goes on. What it executes goes on without it, and the next one takes that over.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "host", Usage: "name `H` of this host (the system's)"},
		},
		Access:  verbs.Writes,
		Unkeyed: true,
		Alone:   true,
		Example: "placectl keep",
		Run:     keep,
	}
}

func keep(r *session.Run, c *cli.Context) error {
	if c.Bool(verbs.DryRun) {
		return r.View(func(*engine.Tx) error { return nil })
	}
	lock := launch.Inherited()
	runtime.GOMAXPROCS(1)   // keep runs many short steps, and each would wake another thread
	g, err := gate.Forked() // early, while this process is small
	if err != nil {
		return err
	}
	runner, _, err := r.AttemptsRunner(c.String("host"))
	if err != nil {
		g.Close()
		return err
	}
	if !r.OverSSH() {
		runner.Summon = r.Summon
	}
	return runner.Keep(r.Ctx, g, lock)
}
