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
	"github.com/placectl/placectl/cmd/placectl/internal/detect"
	"github.com/placectl/placectl/cmd/placectl/internal/launch"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	attempts "github.com/placectl/placectl/cmd/placectl/internal/runner"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/signing"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

// Doctor declares the verb doctor.
func Doctor() *session.Verb {
	return &session.Verb{
		Name:     "doctor",
		Category: "Store",
		Usage:    "check whether this host can execute jobs",
		May:      store.Anybody,
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
	var all []attempts.Finding
	if err != nil {
		all = append(all, attempts.Finding{What: "database", State: attempts.Fails, Detail: err.Error()})
		runner = &attempts.Runner{Site: attempts.Site{Host: host, StateDir: attempts.DefaultState(os.Getuid())}}
		if errors.Is(err, store.ErrCopy) && !r.OverSSH() { // it connects to no other host
			more, err := examineFile(r, host)
			if err != nil {
				return err
			}
			all = append(all, more...)
		}
	} else {
		all = append(all, attempts.Finding{What: "database", State: attempts.Works, Detail: runner.Database},
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
	fields := output.Fields[attempts.Finding]{
		{Name: "what", Value: func(f attempts.Finding) any { return f.What }},
		{Name: "state", Value: func(f attempts.Finding) any { return string(f.State) }},
		{Name: "detail", Value: func(f attempts.Finding) any { return output.OrNil(f.Detail) }},
	}
	err = nil
	fails := func(f attempts.Finding) bool { return f.State == attempts.Fails }
	if i := slices.IndexFunc(all, fails); i >= 0 {
		err = fmt.Errorf("%w: %s", errUnfit, all[i].What)
	}
	if r.Hushed() {
		all = slices.DeleteFunc(all, func(f attempts.Finding) bool { return !fails(f) })
	}
	return r.Failing("findings", err, func() error { return session.PrintAll(r, fields, all...) })
}

// launchedBy says what launches the database's jobs.
func launchedBy(way string) attempts.Finding {
	switch way {
	case store.LaunchExec:
		return attempts.Finding{What: "launch", State: attempts.Limited,
			Detail: "exec: cycles tell the site's launcher of jobs, and passes execute none"}
	case store.LaunchWork:
		return attempts.Finding{What: "launch", State: attempts.Works, Detail: "work: passes execute jobs"}
	}
	return attempts.Finding{What: "launch", State: attempts.Works,
		Detail: "not yet decided: the first placectl work or cycle --exec does"}
}

// wantMail counts the live jobs that asked for mail.
func wantMail(tx *store.Tx) (count int, err error) {
	err = tx.Jobs().Each(func(j *store.Job) error {
		p, err := tx.Jobs().Payload(j.ID)
		if p != nil && p.Ending.Mail != "" {
			count++
		}
		return err
	}, session.LiveStates()...)
	return count, err
}

// examineFile examines the database's file, and finds which of its nodes this host is.
func examineFile(r *session.Run, host string) ([]attempts.Finding, error) {
	var out []attempts.Finding
	add := func(what string, state attempts.Fitness, format string, args ...any) {
		out = append(out, attempts.Finding{What: what, State: state, Detail: fmt.Sprintf(format, args...)})
	}
	if !store.IsLog(r.DB) {
		switch locks := store.TryLocks(r.DatabasePath()); {
		case locks.Fail:
			add("file_system", attempts.Fails, "%s: locks do not keep others out: %s", locks.On, locks.Doubt)
		case locks.Doubt != "":
			add("file_system", attempts.Limited, "%s: locks may not keep others out: %s", locks.On, locks.Doubt)
		default:
			add("file_system", attempts.Works, "%s: locks keep others out, as two opens tried", locks.On)
		}
	}
	db, err := r.Open()
	if err != nil {
		return nil, err
	}
	if why := r.Distrusts(db); why != "" {
		add("programs", attempts.Limited, "those that the database names are not run, since %s", why)
	} else {
		add("programs", attempts.Works, "those that the database names are run")
	}
	add(examineSignatures(r))
	var mine []string
	var gone error
	var hook store.HookState
	var mails int
	var attended *daily.Attended
	var stopped, help string
	err = db.View(func(tx *store.Tx) (err error) {
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
			if store.SameHost(store.HostOfNode(n), host) {
				mine = append(mine, n.Name)
			}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	if gone != nil {
		add("clock", attempts.Limited, "%v: see placectl clock", gone)
	} else {
		add("clock", attempts.Works, "not behind the database's")
	}
	switch a := attended; {
	case a == nil:
		add("start", attempts.Works, "manual: jobs start when cron or you run placectl cycle or work")
	case a.PID != 0 && a.Why != "":
		add("start", attempts.Limited, "auto: process %d attends to the queue, but %s", a.PID, a.Why)
	case a.Why != "":
		add("start", attempts.Limited, "auto, but no process attends to the queue: %s%s", a.Why,
			strings.TrimSuffix("; "+a.Help, "; "))
	case a.PID != 0:
		add("start", attempts.Works, "auto: process %d attends to the queue", a.PID)
	default:
		add("start", attempts.Works,
			"auto: the next command that changes the queue leaves a process that attends to it")
	}
	if stopped != "" {
		add("keeper", attempts.Limited, "%s; %s, and otherwise another takes its place after a minute", stopped, help)
	}
	var missing error
	if hook.Program != nil {
		_, missing = launch.Find(hook.Program[0])
	}
	switch {
	case hook.Program == nil && mails > 0:
		add("hook", attempts.Limited, "none, and %s asked for mail: config set hook=PROGRAM, such as docs/hooks/mail",
			text.Plural(mails, "live job"))
	case hook.Program == nil:
	case missing != nil:
		add("hook", attempts.Limited, "%v; %s", missing, daily.WaitingEvents(hook.Behind))
	case !hook.Failing.IsZero():
		add("hook", attempts.Limited, "%s has been failing since %s: %s; %s, and placectl cycle runs it again",
			strings.Join(hook.Program, " "), r.LocalTimes(hook.Failing.UTC().Format(time.RFC3339)), hook.Failure,
			daily.WaitingEvents(hook.Behind))
	case hook.Failure != "":
		add("hook", attempts.Limited, "%s complains: %s; %s", strings.Join(hook.Program, " "), hook.Failure,
			daily.WaitingEvents(hook.Behind))
	default:
		add("hook", attempts.Works, "%s: %s", strings.Join(hook.Program, " "), daily.WaitingEvents(hook.Behind))
	}
	if len(mine) == 0 {
		add("nodes", attempts.Limited,
			"none has the host %s: passes find nothing to start here (node detect --apply adds it)", host)
	} else {
		add("nodes", attempts.Works, "this host is %s", index.FoldNodeList(mine))
	}
	return out, nil
}

// examineSignatures reports whether this user's jobs can be verified here.
func examineSignatures(r *session.Run) (what string, state attempts.Fitness, format string, detail any) {
	shared := store.Others(r.DB)
	if shared == "" {
		return "signatures", attempts.Works, "%s", "none are needed: only you or root can write the database"
	}
	_, err := signing.Read(r.KeyPath())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "signatures", attempts.Limited, "%s",
			fmt.Sprintf("%s, and there is no %s: passes here hold your jobs; your first submission makes a key, and "+
				"a node with another home directory needs a copy", shared, r.KeyPath())
	case err != nil:
		return "signatures", attempts.Fails, "%s", err.Error()
	}
	return "signatures", attempts.Works, "%s", fmt.Sprintf("%s: passes execute what you have signed with %s", shared,
		r.KeyPath())
}

// examineUser says whose jobs are executed here.
func examineUser(r *session.Run) attempts.Finding {
	me, err := r.Me()
	if err != nil {
		return attempts.Finding{What: "user", State: attempts.Fails, Detail: err.Error()}
	}
	return attempts.Finding{What: "user", State: attempts.Works,
		Detail: fmt.Sprintf("%s (%d): passes execute the jobs of this user", me.Name, me.UID)}
}

// examineDevices lists the devices found here.
func examineDevices(r *session.Run) attempts.Finding {
	m := detect.Look(
		detect.Here(func(words ...string) (string, error) { return launch.Output(r.Ctx, 5*time.Second, words...) }),
		false)
	var words []string
	for _, h := range m.Found() {
		words = append(words, h.Resource+"="+h.Devices.String())
	}
	f := attempts.Finding{What: "devices", State: attempts.Works, Detail: strings.Join(words, "; ")}
	if len(m.Notes) > 0 {
		f.State, f.Detail = attempts.Limited, strings.Join(m.Notes, "; ")
	}
	return f
}

// wayTime bounds how long another host may take to answer.
const wayTime = 10 * time.Second

// examineWays checks that each other host reaches the database as passes there do, if commands
// leave behind a process that makes such passes.
func examineWays(r *session.Run, here string) ([]attempts.Finding, error) {
	others := make(map[string]bool)
	var database string
	err := r.View(func(tx *store.Tx) error {
		clear(others)
		settings, err := tx.Config().Settings()
		if err != nil || settings.Start != store.StartAuto {
			return err
		}
		database = cmp.Or(settings.LaunchDB, r.LaunchDB(here))
		return tx.Nodes().Each(func(n *index.Node) error {
			if host := store.HostOfNode(n); n.State == index.Up && !store.SameHost(host, here) {
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
	f := attempts.Finding{What: "ways", State: attempts.Works, Detail: text.Plural(len(hosts), "other host") +
		": the database is reached from there as " + database}
	if why := errors.Join(came...); why != nil {
		f.State, f.Detail = attempts.Limited, "jobs do not run on other hosts that do not reach the database as "+
			database+" (the setting launch_db): "+strings.ReplaceAll(why.Error(), "\n", "; ")
	}
	return []attempts.Finding{f}, nil
}

func examineSSH() attempts.Finding {
	if _, err := launch.FindSSH(); err != nil {
		return attempts.Finding{What: "ssh", State: attempts.Limited, Detail: "there is none: jobs on other hosts, " +
			"their logs and placectl on cannot be reached from here"}
	}
	return attempts.Finding{What: "ssh", State: attempts.Works}
}
