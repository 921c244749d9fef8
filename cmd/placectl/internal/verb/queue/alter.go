package queue

import (
	"cmp"
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/directives"
	"github.com/placectl/placectl/cmd/placectl/internal/infile"
	"github.com/placectl/placectl/cmd/placectl/internal/request"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/attribute"
	"github.com/placectl/placectl/internal/engine"
	"github.com/urfave/cli/v2"
)

// alterable are the flags of submit that alter takes, besides those of attribute.Flags.
var alterable = append([]string{"name", "walltime", "select", "place", "queue", "class", "account", "policy", "prefer",
	"exclude", "access", "reservation",
	"pool", "bind", "over-limits", "accept", "user", "group", "after", "afterok", "afternotok", "afterany", "aftercorr",
	"singleton"}, request.OfPayload...)

// refused says why alter refuses other flags of submit.
var refused = map[string]string{"hold": "use placectl hold", "requestor": "use --class",
	"array": "the number of jobs never changes", "each": "the number of jobs never changes",
	"script": fixedCommand, "directives": fixedCommand, "lax": fixedCommand}

const fixedCommand = "the command never changes: cancel the job, and submit it again"

// Alter declares the verb alter.
func Alter() *session.Verb {
	flags := request.Size()
	for _, f := range Submit().Flags {
		switch name := f.Names()[0]; {
		case alteredWith[name] == "select" || name == request.Carried:
			continue
		case !slices.Contains(alterable, name) && attribute.FlagNamed(name).Name == "":
			reflect.ValueOf(f).Elem().FieldByName("Hidden").SetBool(true)
		}
		flags = append(flags, f)
	}
	return &session.Verb{
		Name:     "alter",
		Category: "Queue",
		Usage:    "change waiting jobs",
		May:      engine.Anybody,
		Args:     []verbs.Arg{{Name: "JOB", Kind: verbs.KindJob, Many: true}},
		Description: "The flags are those of submit; what you do not name stays. Limits, rights and deadlines apply " +
			"as at submission. A job with a planned start loses it, and is planned again. You can change a running " +
			"job's name, comment, priority and walltime (+30m: so much more). Only the job's own user, who signs the " +
			"change, can change the directory, the environment, the output, retries and mail. If one of several jobs " +
			"cannot be changed, none is.",
		Flags:    flags,
		Access:   verbs.Writes,
		Brief:    true,
		Statuses: Submit().Statuses,
		Example:  "placectl alter 12 -t 4h --priority 50\nplacectl alter 40 --queue night --begin 22:00",
		Run:      alter,
	}
}

func alter(r *session.Run, c *cli.Context) error {
	given := slices.DeleteFunc(slices.Clone(r.Inv.Flags), func(g verbs.Given) bool {
		return g.Name() == verbs.DryRun || g.Name() == verbs.Key
	})
	if len(given) == 0 {
		return usage.Errorf("nothing to change: add a flag, such as -t 4h")
	}
	for _, g := range given {
		if why := refused[g.Name()]; why != "" {
			return usage.Errorf("--%s: %s", g.Name(), why)
		}
	}
	walltime, longer := strings.CutPrefix(c.String("walltime"), "+")
	if longer {
		if err := c.Set("walltime", walltime); err != nil {
			return err
		}
	}
	var sub engine.Submission
	var err error
	if sub.Request, err = r.Request(c, nil); err != nil {
		return err
	}
	sizes, err := request.Sizes(c)
	if err != nil {
		return err
	}
	sub.Select, sub.Accept = cmp.Or(strings.Join(sizes, ","), sub.Select), c.String("accept")
	if err := readAttributes(r, c, &sub); err != nil {
		return err
	}
	return r.Update(c, func(tx *engine.Tx) error {
		sub := sub
		if err := Dependencies(r, tx, c, &sub); err != nil {
			return err
		}
		dependencies, err := readJobDependencies(tx, c, &sub)
		if err != nil {
			return err
		}
		a, err := Alteration(r, c, &sub, slices.DeleteFunc(slices.Clone(given), func(g verbs.Given) bool {
			return slices.Contains([]string{"aftercorr", "singleton"}, g.Name())
		}))
		if err != nil {
			return err
		}
		jobs, _, err := liveNamed(r.Names(tx), c.Args().Slice(), anyJob)
		if err != nil {
			return err
		}
		return changeEach(r, tx, jobs, func(tx *engine.Tx, id uint64) (*engine.Job, error) {
			a := a
			if !longer && dependencies == nil {
				return tx.Jobs().Alter(id, a)
			}
			j, err := tx.Jobs().Get(id)
			if err != nil {
				return nil, err
			}
			if dependencies != nil {
				if a.After, err = dependencies.of(j, a.User, a.Name); err != nil {
					return nil, err
				}
			}
			if longer {
				sum := j.Walltime + sub.Walltime
				a.Walltime = &sum
			}
			return tx.Jobs().Alter(id, a)
		})
	})
}

// errFixed says that a property of a job never changes.
var errFixed = errors.New("this cannot be changed: cancel the job, and submit it again")

// Fixed returns the error for an option whose property never changes.
func Fixed(g verbs.Given) error {
	return &infile.Error{Err: &directives.OptionError{Option: "--" + g.Name(), Err: errFixed}}
}

// alteredWith names the flags that change what another flag does.
var alteredWith = map[string]string{"cpus": "select", "gpus": "select", "mem": "select", "pool": "pools",
	"afterok": "after", "afternotok": "after", "afterany": "after"}

// Alteration returns the changes to a job that the options make, with the values in sub. A flag changes
// the field of its name.
func Alteration(r *session.Run, c *cli.Context, sub *engine.Submission, given []verbs.Given) (a engine.Alteration,
	err error) {
	from, err := process(r)
	if err != nil {
		return a, err
	}
	for _, g := range given {
		field := attribute.FieldName(cmp.Or(alteredWith[g.Name()], g.Name()))
		switch to := reflect.ValueOf(&a).Elem().FieldByName(field); {
		case to.Kind() == reflect.Pointer:
			to.Set(reflect.ValueOf(sub).Elem().FieldByName(field).Addr())
		case slices.Contains(request.OfPayload, g.Name()):
			a.Payload, a.Sign = func(p *engine.Payload) error {
				return cmp.Or(from.Change(c, p), counts(r,
					&p.Ending))
			},
				r.Sign
		default:
			return a, Fixed(g)
		}
	}
	return a, nil
}
