package session

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/localorder"
	"github.com/placectl/placectl/cmd/placectl/internal/request"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/launch"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/placer"
	"github.com/urfave/cli/v2"
)

// LimitsOf parses the limits of a key, each MEASURE=N.
func LimitsOf(defs *index.Defs, key string, words []string, soft bool) (list []engine.Limit, err error) {
	for _, text := range words {
		l := engine.Limit{Key: key, Soft: soft}
		var number string
		var given bool
		if l.Measure, number, given = strings.Cut(text, "="); !given {
			return nil, usage.Errorf("%s: the amount is missing: write %s=20", l.Measure, l.Measure)
		}
		if l.Max, err = limitNumber(defs, l.Measure, number); err != nil {
			return nil, usage.Errorf("%s: %w", l.Measure, err)
		}
		if slices.ContainsFunc(list, func(o engine.Limit) bool { return o.Measure == l.Measure }) {
			return nil, usage.Errorf("%s is there twice", l.Measure)
		}
		list = append(list, l)
	}
	return list, nil
}

// LimitOf returns the resource that a measure counts.
func LimitOf(defs *index.Defs, measure string) (index.Def, bool) {
	name, _, _ := strings.Cut(measure, ".")
	return defs.Lookup(name)
}

// limitNumber parses the amount of a limit: an amount of the resource, a duration for
// walltime.job, otherwise a number.
func limitNumber(defs *index.Defs, measure, value string) (int64, error) {
	if measure == "walltime.job" {
		d, err := text.ParseDuration(value)
		return int64(d.Seconds()), err
	}
	if def, ok := LimitOf(defs, measure); ok && def.Type.Numeric() && !strings.HasPrefix(value, "-") {
		v, err := def.ParseValue(value)
		return v.Num, err
	}
	return WholeAmount(value)
}

const UnitName = "unit"

// UnitFlag returns the flag --unit of the verbs that read descriptions of nodes.
func UnitFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: UnitName, Usage: "unit `U` of sizes without one, such as gb, or mem=gb"}
}

// WholeAmount parses a whole number of 0 or more.
func WholeAmount(value string) (int64, error) {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < 0 {
		return 0, usage.Errorf("%s is not a whole number of 0 or more", text.Quoted(value))
	}
	return n, nil
}

// ClassOf sets the class of a submission that names none.
func ClassOf(tx *engine.Tx, c *cli.Context, s *engine.Submission) (err error) {
	if s.Class == "" {
		s.Class, err = tx.Shares().ClassOf(cmp.Or(c.String("requestor"), s.User))
	}
	return err
}

// Time reads a flag's value as an instant, the zero time if the flag is not given.
func (r *Run) Time(c *cli.Context, flag string) (time.Time, error) {
	return r.timeOf(c, flag, text.ParseTime)
}

func (r *Run) timeOf(c *cli.Context, flag string, parse func(string, time.Time, *time.Location) (time.Time, error)) (
	time.Time, error) {
	s := c.String(flag)
	if s == "" && !c.IsSet(flag) {
		return time.Time{}, nil
	}
	t, err := parse(s, r.Instant(), r.Loc)
	if err != nil {
		return time.Time{}, usage.Errorf("%s: %w", verbs.Dashed(flag), err)
	}
	return t, nil
}

// TimeToCome is Time for what is yet to come: a time of day that is past means tomorrow.
func (r *Run) TimeToCome(c *cli.Context, flag string) (time.Time, error) {
	return r.timeOf(c, flag, text.ParseTimeToCome)
}

// Duration reads a flag's value as a duration, 0 if the flag is not given.
func (r *Run) Duration(c *cli.Context, flag string) (time.Duration, error) {
	s := c.String(flag)
	if s == "" && !c.IsSet(flag) {
		return 0, nil
	}
	d, err := text.ParseDuration(s)
	if err != nil {
		return 0, usage.Errorf("%s: %w", verbs.Dashed(flag), err)
	}
	return d, nil
}

// Request reads the request. It is for the calling user unless it names another.
func (r *Run) Request(c *cli.Context, args []string) (placer.Request, error) {
	q, err := request.Read(c, args)
	if q.User == "" {
		q.User = r.Self()
	}
	return q, err
}

// Ordered runs fn, which must call localorder.Wanted once it has a transaction. It runs fn again
// if it must ask the site's own program first.
func (r *Run) Ordered(q *placer.Request, fn func() error) error {
	return (&localorder.Asker{Open: r.Open, Distrusts: r.Distrusts, Note: r.Notef}).Ordered(r.Ctx, q, fn)
}

// CheckSettings refuses settings, as names and values, that name a program which is not on this host.
func CheckSettings(settings [][2]string) error {
	for _, kv := range settings {
		words := strings.Fields(kv[1])
		if kv[0] != "hook" || len(words) == 0 {
			continue
		}
		if _, err := launch.Find(words[0]); err != nil {
			return usage.Errorf("hook=%s: %w", kv[1], err)
		}
	}
	return nil
}
