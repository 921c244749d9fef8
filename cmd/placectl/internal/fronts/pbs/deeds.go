package pbs

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/directives"
	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
)

// outcome collects messages about the jobs that a command could not change.
type outcome struct {
	text strings.Builder
	code int
}

func (o *outcome) miss(code int, words ...string) {
	o.text.WriteString(strings.Join(words, "") + "\n")
	o.code = code
}

func (o *outcome) status() error {
	if o.code == 0 {
		return nil
	}
	return &fronts.Status{Code: o.code, Text: o.text.String()}
}

// each does something to each job in words. A job that cannot be changed does not stop the others. ended
// accepts jobs that have ended as done.
func each(c *fronts.Call, words []string, ended bool, fit func(*fronts.Job) (code int, why string),
	do func(fronts.Change, *fronts.Job) error) error {
	var out *outcome
	err := c.Update(func(ch fronts.Change) error {
		out = new(outcome)
		about, err := ch.About()
		if err != nil {
			return err
		}
		for _, word := range words {
			r, err := parseRef(word)
			if err != nil {
				out.miss(1, c.Name, ": illegally formed job identifier: ", word)
				continue
			}
			full := word
			if !strings.Contains(word, ".") {
				full += "." + about.Server
			}
			var jobs []*fronts.Job
			err = ch.Jobs(fronts.Selection{IDs: []uint64{r.id}, Ended: true}, func(j *fronts.Job) error {
				if r.names(j) {
					jobs = append(jobs, j)
				}
				return nil
			})
			if err != nil {
				return err
			}
			if len(jobs) == 0 {
				out.miss(noJob, c.Name, ": Unknown Job Id ", full)
				continue
			}
			live := slices.ContainsFunc(jobs, func(j *fronts.Job) bool { return !j.State.Over() })
			for _, j := range jobs {
				switch code, why := fit(j); {
				case j.State.Over() && (live || ended): // others of its array
				case j.State.Over():
					out.miss(finished, c.Name, ": Job has finished ", full)
				case !c.May(j):
					out.miss(notAllowed, c.Name, ": Unauthorized Request  ", full)
				case code != 0 && len(jobs) == 1:
					out.miss(code, c.Name, ": ", why, " ", full)
				case code == 0:
					if err := do(ch, j); err != nil {
						return err
					}
				}
				if j.State.Over() && !live {
					break
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return out.status()
}

// deeds returns a command that does the same to every job.
func deeds(name, list string, deed fronts.Deed) func(*fronts.Call) error {
	return func(c *fronts.Call) error {
		given, words, err := options(c, list)
		if err != nil {
			return err
		}
		if len(words) == 0 {
			return fronts.Failf(2, "usage: %s job_identifier...", name)
		}
		set, deed := fronts.SetOf(given), deed
		if err := holdsOf(c, set); err != nil {
			return err
		}
		if set.Has("W") && deed == fronts.Cancel && set["W"] == "force" {
			deed = fronts.Kill
		}
		signal := 0
		if name == "qsig" {
			word := cmp.Or(set["s"], "TERM")
			if stands, ok := map[string]string{"suspend": "STOP", "resume": "CONT"}[word]; ok {
				word = stands
			}
			if signal = directives.SignalNumber(word); signal == 0 {
				return fronts.Failf(badValue, "qsig: Unknown signal name %s", set["s"])
			}
		}
		return each(c, words, name == "qdel" && set.Has("x"), func(j *fronts.Job) (int, string) {
			running := j.State == fronts.Running
			if deed == fronts.Hold && running || (deed == fronts.Requeue || name == "qsig") && !running {
				return badState, stateForbids
			}
			return 0, ""
		}, func(ch fronts.Change, j *fronts.Job) error {
			if done(deed, j) || set["h"] == "n" {
				return nil
			}
			if signal != 0 {
				return ch.Signal(j.ID, signal)
			}
			return ch.Do(deed, j.ID)
		})
	}
}

// stateForbids begins the message that goes with badState.
const stateForbids = "Request invalid for state of job "

// done reports whether a job is held already that should be, or is not that should be freed.
func done(deed fronts.Deed, j *fronts.Job) bool {
	return deed == fronts.Hold && j.State == fronts.Held || deed == fronts.Unhold && j.State != fronts.Held
}

// alterOptions are qsub's, but -h has a value: whose hold it is, as for qhold, or n to free the job.
func alterOptions() fronts.Options {
	list := fronts.Options(directives.PBS.Declared())
	at := slices.IndexFunc(list, func(d directives.Declared) bool { return d.Short == 'h' })
	list[at].Value = true
	return list
}

// holdsOf verifies the kinds of holds that -h names. There is only one kind here; n is none.
func holdsOf(c *fronts.Call, set fronts.Set) error {
	if hold, given := set["h"]; given && (hold == "" || hold != "n" && strings.Trim(hold, "uosp") != "") {
		return fronts.Failf(badValue, "%s: Illegal -h value %q: it is of u, o, s and p, or n", c.Name, hold)
	}
	return nil
}

// qalter changes jobs.
func qalter(c *fronts.Call) error {
	given, words, err := alterOptions().Read(c.Args, fronts.InFront)
	if err != nil || len(words) == 0 {
		return fronts.Failf(2, "usage: qalter [options] job_identifier...")
	}
	set := fronts.SetOf(given)
	hold, holds := set["h"]
	if err := holdsOf(c, set); err != nil {
		return err
	}
	given = slices.DeleteFunc(given, func(g fronts.Given) bool { return g.Name == "h" })
	deed := fronts.Hold
	if hold == "n" {
		deed = fronts.Unhold
	}
	var view fronts.View
	err = each(c, words, false, func(j *fronts.Job) (int, string) {
		if holds && deed == fronts.Hold && j.State == fronts.Running {
			return badState, stateForbids
		}
		return 0, ""
	}, func(ch fronts.Change, j *fronts.Job) error {
		view = ch
		if len(given) > 0 || !holds {
			if err := ch.Alter(j.ID, directives.PBS, given); err != nil {
				return err
			}
		}
		if !holds || done(deed, j) {
			return nil
		}
		return ch.Do(deed, j.ID)
	})
	var s *fronts.Status
	if err != nil && !errors.As(err, &s) && view != nil {
		return refused(c, view, err)
	}
	return err
}
