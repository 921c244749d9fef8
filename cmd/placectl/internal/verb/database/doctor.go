package database

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/daily"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/detect"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/keeper"
	"github.com/placectl/placectl/internal/launch"
	"github.com/placectl/placectl/internal/signing"
	"github.com/placectl/placectl/internal/text"
	"github.com/urfave/cli/v2"
)

// Doctor declares the verb doctor.
func Doctor() *session.Verb {
	return &session.Verb{
		Name:     "doctor",
		Category: "Store",
		Usage:    "check whether this host can execute jobs",
		May:      engine.Anybody,
		Description: "Prints a line for each thing that executing jobs needs: the database and its file system, this " +
			"host's nodes, the\n" +
			"directory for attempts, the kernel, control groups, devices, ssh. Each works, is limited (jobs run, " +
			"with less)\n" +
			"or fails. If one fails, the exit status is 1. The check changes nothing. After a reboot a queue goes " +
			"on with its\n" +
			"user's next command; docs/recipes.md has a crontab line and a systemd unit that continue it.",
		Access:  verbs.Reads,
		Alone:   true,
		Example: "placectl doctor\nssh n2 placectl --db ssh://head/srv/cluster.db doctor",
		Run:     doctor,
	}
}

// errUnfit says that a check has failed.
var errUnfit = errors.New("jobs cannot be executed here at present")

func doctor(r *session.Run, _ *cli.Context) error {
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	runner, launched, err := r.AttemptsRunner("")
	var all []keeper.Finding
	if err != nil {
		all = append(all, keeper.Finding{What: "database", State: keeper.Fails, Detail: err.Error()})
		runner = &keeper.Runner{Site: keeper.Site{Host: host, StateDir: keeper.DefaultState(os.Getuid())}}
		if errors.Is(err, engine.ErrCopy) && !r.OverSSH() { // it connects to no other host
			more, err := examineFile(r, host)
			if err != nil {
				return err
			}
			all = append(all, more...)
		}
	} else {
		all = append(all, keeper.Finding{What: "database", State: keeper.Works, Detail: runner.Database},
			launchedBy(launched))
		if !r.OverSSH() {
			more, err := examineFile(r, host)
			if err != nil {
				return err
			}
			all = append(all, more...)
			if more, err = examineWays(r, host); err != nil {
				return err
			}
			all = append(all, more...)
		}
	}
	if !r.OverSSH() {
		all = append(all, examineBoot()...)
	}
	all = append(all, examineUser(r))
	all = append(all, runner.Examine()...)
	all = append(all, examineDevices(r), examineSSH())
	fields := output.Fields[keeper.Finding]{
		{Name: "what", Value: func(f keeper.Finding) any { return f.What }},
		{Name: "state", Value: func(f keeper.Finding) any { return string(f.State) }},
		{Name: "detail", Value: func(f keeper.Finding) any { return output.OrNil(f.Detail) }},
	}
	err = nil
	fails := func(f keeper.Finding) bool { return f.State == keeper.Fails }
	if i := slices.IndexFunc(all, fails); i >= 0 {
		err = fmt.Errorf("%w: %s", errUnfit, all[i].What)
	}
	if r.Hushed() {
		all = slices.DeleteFunc(all, func(f keeper.Finding) bool { return !fails(f) })
	}
	return r.Failing("findings", err, func() error { return session.PrintAll(r, fields, all...) })
}

// launchedBy says what launches the database's jobs.
func launchedBy(way string) keeper.Finding {
	switch way {
	case engine.LaunchExec:
		return keeper.Finding{What: "launch", State: keeper.Limited,
			Detail: "exec: cycles tell the site's launcher of jobs, and passes execute none"}
	case engine.LaunchWork:
		return keeper.Finding{What: "launch", State: keeper.Works, Detail: "work: passes execute jobs"}
	}
	return keeper.Finding{What: "launch", State: keeper.Works,
		Detail: "not yet decided: the first placectl work or cycle --exec does"}
}

// wantMail counts the live jobs that asked for mail.
func wantMail(tx *engine.Tx) (count int, err error) {
	err = tx.Jobs().Each(func(j *engine.Job) error {
		p, err := tx.Jobs().Payload(j.ID)
		if p != nil && p.Ending.Mail != "" {
			count++
		}
		return err
	}, session.LiveStates()...)
	return count, err
}

// examineFile examines the database's file, and finds which of its nodes this host is.
func examineFile(r *session.Run, host string) ([]keeper.Finding, error) {
	var out []keeper.Finding
	add := func(what string, state keeper.Fitness, format string, args ...any) {
		out = append(out, keeper.Finding{What: what, State: state, Detail: fmt.Sprintf(format, args...)})
	}
	if !engine.IsLog(r.DB) {
		switch locks := engine.TryLocks(r.DatabasePath()); {
		case locks.Fail:
			add("file_system", keeper.Fails, "%s: locks do not keep others out: %s", locks.On, locks.Doubt)
		case locks.Doubt != "":
			add("file_system", keeper.Limited, "%s: locks may not keep others out: %s", locks.On, locks.Doubt)
		default:
			add("file_system", keeper.Works, "%s: locks keep others out, as two opens tried", locks.On)
		}
	}
	db, err := r.Open()
	if err != nil {
		return nil, err
	}
	if why := r.Distrusts(db); why != "" {
		add("programs", keeper.Limited, "those that the database names are not run, since %s", why)
	} else {
		add("programs", keeper.Works, "those that the database names are run")
	}
	add(examineSignatures(r))
	var mine []string
	var gone error
	var hook engine.HookState
	var mails int
	var attended *daily.Attended
	var stopped, help string
	err = db.View(func(tx *engine.Tx) (err error) {
		mine = nil
		if attended, err = r.Attended(tx); err != nil {
			return err
		}
		if stopped, help, err = r.StoppedKeeper(tx); err != nil {
			return err
		}
		if hook, err = tx.Hook().State(); err != nil {
			return err
		}
		if mails, err = wantMail(tx); err != nil {
			return err
		}
		if behind := tx.Now().Sub(r.Env.Clock()); r.Now.IsZero() && behind > time.Second {
			gone = fmt.Errorf("it is %s behind the database's clock", behind.Round(time.Second))
		}
		return tx.Nodes().Each(func(n *index.Node) error {
			if engine.SameHost(engine.HostOfNode(n), host) {
				mine = append(mine, n.Name)
			}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	if gone != nil {
		add("clock", keeper.Limited, "%v: see placectl clock", gone)
	} else {
		add("clock", keeper.Works, "not behind the database's")
	}
	switch a := attended; {
	case a == nil:
		add("start", keeper.Works, "manual: jobs start when cron or you run placectl cycle or work")
	case a.PID != 0 && a.Why != "":
		add("start", keeper.Limited, "auto: process %d is the queue runner, but %s", a.PID, a.Why)
	case a.Why != "":
		add("start", keeper.Limited, "auto, but there is no queue runner: %s%s", a.Why,
			strings.TrimSuffix("; "+a.Help, "; "))
	case a.PID != 0:
		add("start", keeper.Works, "auto: process %d is the queue runner", a.PID)
	default:
		add("start", keeper.Works,
			"auto: the next command that changes the queue starts the queue runner")
	}
	if stopped != "" {
		add("keeper", keeper.Limited, "%s; %s, and otherwise another takes its place after a minute", stopped, help)
	}
	var missing error
	if hook.Program != nil {
		_, missing = launch.Find(hook.Program[0])
	}
	switch {
	case hook.Program == nil && mails > 0:
		add("hook", keeper.Limited, "none, and %s asked for mail: config set hook=PROGRAM, such as docs/hooks/mail",
			text.Plural(mails, "live job"))
	case hook.Program == nil:
	case missing != nil:
		add("hook", keeper.Limited, "%v; %s", missing, daily.WaitingEvents(hook.Behind))
	case !hook.Failing.IsZero():
		add("hook", keeper.Limited, "%s has been failing since %s: %s; %s, and placectl cycle runs it again",
			strings.Join(hook.Program, " "), r.LocalTimes(hook.Failing.UTC().Format(time.RFC3339)), hook.Failure,
			daily.WaitingEvents(hook.Behind))
	case hook.Failure != "":
		add("hook", keeper.Limited, "%s complains: %s; %s", strings.Join(hook.Program, " "), hook.Failure,
			daily.WaitingEvents(hook.Behind))
	default:
		add("hook", keeper.Works, "%s: %s", strings.Join(hook.Program, " "), daily.WaitingEvents(hook.Behind))
	}
	if len(mine) == 0 {
		add("nodes", keeper.Limited,
			"none has the host %s: passes find nothing to start here (node detect --apply adds it)", host)
	} else {
		add("nodes", keeper.Works, "this host is %s", index.FoldNodeList(mine))
	}
	return out, nil
}

// examineSignatures reports whether this user's jobs can be verified here.
func examineSignatures(r *session.Run) (what string, state keeper.Fitness, format string, detail any) {
	shared := engine.Others(r.DB)
	if shared == "" {
		return "signatures", keeper.Works, "%s", "none are needed: only you or root can write the database"
	}
	_, err := signing.Read(r.KeyPath())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "signatures", keeper.Limited, "%s",
			fmt.Sprintf("%s, and there is no %s: passes here hold your jobs; your first submission makes a key, and "+
				"a node with another home directory needs a copy", shared, r.KeyPath())
	case err != nil:
		return "signatures", keeper.Fails, "%s", err.Error()
	}
	return "signatures", keeper.Works, "%s", fmt.Sprintf("%s: passes execute what you have signed with %s", shared,
		r.KeyPath())
}

// examineUser says whose jobs are executed here.
func examineUser(r *session.Run) keeper.Finding {
	me, err := r.Me()
	if err != nil {
		return keeper.Finding{What: "user", State: keeper.Fails, Detail: err.Error()}
	}
	return keeper.Finding{What: "user", State: keeper.Works,
		Detail: fmt.Sprintf("%s (%d): passes execute the jobs of this user", me.Name, me.UID)}
}

// examineDevices lists the devices found here.
func examineDevices(r *session.Run) keeper.Finding {
	m := detect.Look(
		detect.Here(func(words ...string) (string, error) { return launch.Output(r.Ctx, 5*time.Second, words...) }),
		false)
	var words []string
	for _, h := range m.Found() {
		words = append(words, h.Resource+"="+h.Devices.String())
	}
	f := keeper.Finding{What: "devices", State: keeper.Works, Detail: strings.Join(words, "; ")}
	if len(m.Notes) > 0 {
		f.State, f.Detail = keeper.Limited, strings.Join(m.Notes, "; ")
	}
	return f
}

// wayTime bounds how long another host may take to answer.
const wayTime = 10 * time.Second

// examineWays checks that each other host reaches the database as passes there do, if commands
// leave behind a process that makes such passes.
func examineWays(r *session.Run, here string) ([]keeper.Finding, error) {
	others := make(map[string]bool)
	var database string
	err := r.View(func(tx *engine.Tx) error {
		clear(others)
		settings, err := tx.Config().Settings()
		if err != nil || settings.Start != engine.StartAuto {
			return err
		}
		database = cmp.Or(settings.LaunchDB, r.LaunchDB(here))
		return tx.Nodes().Each(func(n *index.Node) error {
			if host := engine.HostOfNode(n); n.State == index.Up && !engine.SameHost(host, here) {
				others[host] = true
			}
			return nil
		})
	})
	ssh, none := launch.FindSSH()
	if err != nil || len(others) == 0 || none != nil {
		return nil, err
	}
	hosts := slices.Sorted(maps.Keys(others))
	came := ssh.Each(r.Ctx, hosts, wayTime, func(string) []string {
		return []string{"placectl", "--db", database, "config", "get", "start", "-q"}
	})
	f := keeper.Finding{What: "ways", State: keeper.Works, Detail: text.Plural(len(hosts), "other host") +
		": the database is reached from there as " + database}
	alike := make(map[string][]string) // hosts by their trouble
	for i, why := range came {
		if why != nil {
			key := strings.ReplaceAll(why.Error(), hosts[i], "\x00")
			alike[key] = append(alike[key], hosts[i])
		}
	}
	var said []string
	for _, why := range slices.Sorted(maps.Keys(alike)) {
		said = append(said, strings.ReplaceAll(why, "\x00", index.FoldNodeList(alike[why])))
	}
	if len(said) > 0 {
		f.State, f.Detail = keeper.Limited, "jobs do not run on other hosts that do not reach the database as "+
			database+" (the setting launch_db): "+strings.Join(said, "; ")
	}
	return []keeper.Finding{f}, nil
}

func examineSSH() keeper.Finding {
	if _, err := launch.FindSSH(); err != nil {
		return keeper.Finding{What: "ssh", State: keeper.Limited, Detail: "there is none: jobs on other hosts, " +
			"their logs and placectl on cannot be reached from here"}
	}
	return keeper.Finding{What: "ssh", State: keeper.Works}
}
