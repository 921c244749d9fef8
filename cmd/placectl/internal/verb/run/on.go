package run

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/remote"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/dispatch"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/keeper"
	"github.com/placectl/placectl/internal/launch"
	"github.com/urfave/cli/v2"
)

// watchFlag makes on the process that runs the command, on the other host.
const watchFlag = "watch"

// signalFlag makes on send signals to an attempt's processes on this host.
const signalFlag = "signal"

// sweepFlag makes on end an attempt's processes on this host.
const sweepFlag = "sweep"

// On declares the verb on.
func On() *session.Verb {
	return &session.Verb{
		Name:     "on",
		Category: "Queue",
		Usage:    "run a command on another node of a job",
		May:      engine.Anybody,
		Args: []verbs.Arg{{Name: "NODE"}, {Name: "-- COMMAND", Kind: verbs.KindCommand, Optional: true},
			{Name: "ARGUMENTS", Kind: verbs.KindCommand, Optional: true, Many: true}},
		Description: "A job's command runs on its first node. This starts another on NODE, over ssh if that is " +
			"another host. It gets\n" +
			"this directory, environment, input and output, and the devices that the job has there. When this " +
			"verb ends, or\n" +
			"the connection breaks, the command there is ended with all it started, so nothing is left when the job\n" +
			"ends. on exits with the command's status; its own failures add 100 to the statuses of other verbs. " +
			"Without --,\n" +
			"what follows NODE is a line for a shell, as with ssh and rsh. So MPI libraries can call it:\n" +
			"OMPI_MCA_plm_rsh_agent='placectl on'.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: watchFlag, Hidden: true},
			&cli.StringFlag{Name: sweepFlag, Hidden: true},
			&cli.StringFlag{Name: signalFlag, Hidden: true},
			&cli.BoolFlag{Name: "no-forward", Aliases: []string{"x"}, Usage: "ignored: agents of MPI libraries pass it",
				Hidden: true},
		},
		Access:   verbs.Reads,
		Alone:    true,
		Passes:   true,
		Command:  true,
		Statuses: map[int]string{exit.Conflict: ""},
		Example: "placectl on n2 -- hostname\nfor n in $(sort -u $PLACECTL_NODEFILE); do placectl on $n -- ./worker " +
			"& done; wait",
		Run: on,
	}
}

func on(r *session.Run, c *cli.Context) error {
	if c.Bool(watchFlag) {
		return watch(r)
	}
	if c.IsSet(sweepFlag) {
		found, err := keeper.Sweep(c.String(sweepFlag))
		if err == nil && found {
			err = passOn(r, keeper.SweepFound)
		}
		return err
	}
	if c.IsSet(signalFlag) {
		return keeper.OwnFile().SignalHere(c.String(signalFlag))
	}
	args := c.Args().Slice()
	if len(args) < 2 || r.Dash >= 0 && r.Dash != 1 {
		return usage.Errorf("give a node and a command: placectl on n2 -- hostname")
	}
	node, words := args[0], args[1:]
	if r.Dash < 0 {
		words = []string{"sh", "-c", strings.Join(words, " ")}
	}
	var k keeper.Key
	if k.Job, k.Number = r.Within(); k.Job == 0 {
		return usage.Errorf("it works only inside a job of this database, where PLACECTL_JOB is set")
	}
	p, err := placeOn(r, k, node)
	if err != nil {
		return err
	}
	env := onEnviron(r.Environ(), p.Env)
	if p.Here {
		return launch.Become(words, env)
	}
	return onHost(r, p, &keeper.Elsewhere{Words: words, Env: env, Grace: p.Grace})
}

// placeOn asks the database where to run the command.
func placeOn(r *session.Run, k keeper.Key, node string) (*dispatch.Place, error) {
	if !r.OverSSH() {
		p, err := r.Dispatched("", os.Getuid()).On(k, node)
		if errors.Is(err, engine.ErrNotFound) { // PLACECTL_JOB may name an array
			err = cmp.Or(r.View(func(tx *engine.Tx) error {
				return r.Names(tx).NoArray(strconv.FormatUint(k.Job,
					10))
			}),
				err)
		}
		return p, err
	}
	db, err := r.RemoteDatabase("")
	if err != nil {
		return nil, err
	}
	a, err := db.Ask(r.Ctx, remote.AskOn, remote.Question{Job: k.Job, Attempt: k.Number, Node: node})
	if err != nil {
		return nil, err
	}
	if a.Place == nil {
		return nil, fmt.Errorf("%s: placectl is too old there to answer", db.Host)
	}
	return a.Place, nil
}

// ofFirstNode are the variables that describe only the first node of a job.
var ofFirstNode = []string{"TMPDIR", "PLACECTL_NODEFILE", "PLACECTL_DEVICEFILE", "PLACECTL_DEVICES", "PLACECTL_CPUS"}

// ofDevices are the variables that libraries read. placectl sets them along with PLACECTL_DEVICES.
var ofDevices = []string{"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "NVIDIA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"}

// onEnviron adapts an environment to another node of the job.
func onEnviron(environ, devices []string) []string {
	drop := ofFirstNode
	if slices.ContainsFunc(environ, func(kv string) bool { return strings.HasPrefix(kv, "PLACECTL_DEVICES=") }) {
		drop = slices.Concat(drop, ofDevices)
	}
	out := slices.DeleteFunc(slices.Clone(environ), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(drop, name)
	})
	return append(out, devices...)
}

// onHost runs the command on another host, and forwards its input and output.
func onHost(r *session.Run, p *dispatch.Place, e *keeper.Elsewhere) (err error) {
	if e.Dir, err = os.Getwd(); err != nil {
		return err
	}
	ssh, err := launch.FindSSH()
	if err != nil {
		return err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	back, err := keeper.NoteSent(r.Getenv)
	if err != nil {
		return err
	}
	defer write.Close()       // the connection ends with this process
	go e.Send(write, r.Stdin) //nolint:errcheck // a command that stops reading has ended
	status, err := ssh.Run(r.Ctx, p.Host, []string{"placectl", "on", "--" + watchFlag}, read, r.Answers.Writer,
		r.Stderr)
	read.Close()
	if err != nil {
		var lost *launch.Unreached
		if errors.As(err, &lost) {
			return fmt.Errorf("%w: %w", exit.ErrUnreached, err)
		}
		return err
	}
	if status < 128 {
		back() // the other side has said that nothing is left there; otherwise it may have been killed
	}
	return passOn(r, status)
}

// watch runs a command for another host of the job.
func watch(r *session.Run) error {
	status, err := keeper.Watch(os.Stdin)
	if err != nil {
		return err
	}
	return passOn(r, status)
}

// passOn ends the run with a command's exit status.
func passOn(r *session.Run, status int) error {
	r.Begun = true
	if status != 0 {
		return exit.Status(status)
	}
	return nil
}
