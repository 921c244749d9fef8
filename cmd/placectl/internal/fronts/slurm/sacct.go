package slurm

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
	"github.com/placectl/placectl/internal/text"
)

const sacctOptions = "A,accounts= a,allusers b,brief B,batch-script c,completion C,constraints= cluster= clusters= " +
	"D,duplicates delimiter= E,endtime= e,helpformat env-vars f,file= F,flags= " +
	"federation g,gid= group= h,help I,ncpus= i,nnodes= j,jobs= job= json k,timelimit-min= K,timelimit-max= local " +
	"L,allclusters l,long M name= jobname= N,nodelist= noconvert n,noheader o,format= P,parsable2 p,parsable " +
	"q,qos= R,reason= r,partition= S,starttime= s,state= T,truncate t,timezone= units= U,usage u,uid= use-local-uid " +
	"user= v,verbose V,version W,wckeys= x,associations= X,allocations yaml"

// accountOptions combines lists in several options, because sacct does: -j 1 -j 2 is -j 1,2. Of other
// options the last one counts.
func accountOptions(given []fronts.Given) fronts.Set {
	set := make(fronts.Set)
	for _, g := range given {
		switch name := cmp.Or(map[string]string{"job": "jobs", "jobname": "name", "user": "uid",
			"group": "gid"}[g.Name], g.Name); name {
		case "accounts", "constraints", "format", "gid", "jobs", "name", "partition", "qos", "reason", "state", "uid",
			"wckeys":
			if set.Has(name) {
				g.Value = set[name] + "," + g.Value
			}
			fallthrough
		default:
			set[name] = g.Value
		}
	}
	return set
}

// sacct lists jobs, mainly ended ones.
func sacct(c *fronts.Call) error {
	list := fronts.Declare(sacctOptions)
	for i := range list {
		if list[i].Short == 'M' {
			list[i].Long, list[i].Value = "clusters", true
		}
	}
	given, rest, err := list.Read(c.Args, fronts.Anywhere)
	if err != nil {
		return usage(c, 1, err)
	}
	set := accountOptions(given)
	if err := helped(c, list, set); err != nil {
		return err
	}
	unit, err := unitOf(set)
	if err != nil {
		return err
	}
	for _, no := range []string{"file", "completion", "flags", "yaml", "batch-script", "env-vars", "associations"} {
		if set.Has(no) {
			return fronts.Failf(1, "sacct: error: --%s is not available here; use placectl show JOB", no)
		}
	}
	if set.Has("json") {
		return fronts.Failf(2, "sacct: error: --json is not available here; use placectl job list --all -o json")
	}
	if len(rest) > 0 {
		return fronts.Failf(1, "sacct: error: Unrecognized argument: %s", rest[0])
	}
	if set.Has("helpformat") {
		return accountFields().help(c)
	}
	cols, err := accountColumns(set)
	if err != nil {
		return err
	}
	var out strings.Builder
	var docs []*account
	how := newSheet(&out, set, cols)
	err = c.View(func(v fronts.View) error {
		about, err := v.About()
		if err != nil {
			return err
		}
		want, err := accountsWanted(c, set, about)
		if err != nil {
			return err
		}
		switch unknown, err := want.strangers(c, v); {
		case err != nil:
			return err
		case len(unknown) > 0:
			return fronts.Failf(1, "sacct: error: Invalid user id: %s", fronts.Word(unknown[0]))
		}
		out.Reset()
		how.head()
		docs, err = want.list(c, v, about, set)
		return err
	})
	if err != nil {
		return err
	}
	for _, a := range docs {
		a.unit = unit
		how.row(a)
	}
	_, err = io.WriteString(c.Stdout, out.String())
	return err
}

// account is a line of sacct: a job, its batch step, or the waiting jobs of an array.
type account struct {
	queued
	batch bool
	unit  byte // of sizes: K, M, G, T or P; 0: the largest with a whole number
}

// unitOf returns the unit for sizes.
func unitOf(set fronts.Set) (byte, error) {
	unit := strings.ToUpper(set["units"])
	switch {
	case !set.Has("units"):
		return 0, nil
	case len(unit) != 1 || !strings.Contains("KMGTP", unit):
		return 0, fronts.Failf(1, "sacct: error: Invalid unit: %s: it is K, M, G, T or P", set["units"])
	}
	return unit[0], nil
}

// size writes kB in the requested unit, such as 512M or 1.50G, or else as the field does.
func (a *account) size(kb int64, plain func(int64) string) string {
	at := strings.IndexByte("KMGTP", a.unit)
	if a.unit == 0 || at < 0 {
		return plain(kb)
	}
	n := float64(kb)
	for range at {
		n /= 1024
	}
	if n == float64(int64(n)) {
		return fmt.Sprintf("%d%c", int64(n), a.unit)
	}
	return fmt.Sprintf("%.2f%c", n, a.unit)
}

// accountable says which jobs sacct shows.
type accountable struct {
	wanted
	from, to time.Time
	only     []func(*account) bool // what else the options ask for
}

func accountsWanted(c *fronts.Call, set fronts.Set, about *fronts.About) (w *accountable, err error) {
	w = new(accountable)
	sub := fronts.Set{}
	for theirs, ours := range map[string]string{"jobs": "jobs", "state": "states", "uid": "user", "name": "name",
		"partition": "partition", "accounts": "account", "nodelist": "nodelist", "qos": "qos"} {
		if set.Has(theirs) {
			sub[ours] = set[theirs]
		}
	}
	if w.wanted, err = wantedOf(c, sub); err != nil {
		return nil, fronts.Failf(1, "sacct: error: %v", err)
	}
	if w.only, err = narrowed(c, set); err != nil {
		return nil, err
	}
	w.details = true
	if w.users == nil && !w.asked && !set.Has("allusers") && c.UID != 0 {
		w.users = []string{c.User}
	}
	now := about.Now.In(c.Zone)
	w.to = now
	if !w.asked && !set.Has("state") {
		w.from = text.Local(now.Year(), now.Month(), now.Day(), 0, 0, 0, c.Zone)
	}
	for option, at := range map[string]*time.Time{"starttime": &w.from, "endtime": &w.to} {
		if set.Has(option) {
			if *at, err = instant(set[option], now); err != nil {
				return nil, fronts.Failf(1, "sacct: error: Invalid time specification (pos=0): %s", set[option])
			}
		}
	}
	return w, nil
}

// list returns the lines to show, by number.
func (w *accountable) list(c *fronts.Call, v fronts.View, about *fronts.About, set fronts.Set) (rows []*account,
	err error) {
	sel := fronts.Selection{IDs: numbers(w.refs), Ended: true, Since: w.from, Details: true, Why: true}
	if !w.asked {
		sel.IDs = nil
	}
	arrays, cal := make(map[uint64]*account), calendarOf(c, about.Now)
	err = v.Jobs(sel, func(j *fronts.Job) error {
		if w.asked && !named(w.refs, j) || !w.wanted.shows(j, about) &&
			!(!w.stated && j.State.Over() && w.alike(j, about)) {
			return nil
		}
		if j.Submit.After(w.to) || j.State.Over() && j.End.Before(w.from) {
			return nil
		}
		a := &account{queued: queued{Job: j, about: about, cal: cal, people: c.People}}
		if set.Has("truncate") && !j.Start.IsZero() {
			j.Start = later(j.Start, w.from)
			if j.End.After(w.to) {
				j.End = w.to
			}
		}
		if slices.ContainsFunc(w.only, func(is func(*account) bool) bool { return !is(a) }) {
			return nil
		}
		if j.Array != 0 && j.State < fronts.Running {
			if first := arrays[j.Array]; first != nil {
				first.folded = append(first.folded, j.Index)
				return nil
			}
			a.folded = []int{j.Index}
			arrays[j.Array] = a
		}
		rows = append(rows, a)
		if !set.Has("allocations") && !j.Start.IsZero() && j.State >= fronts.Running && steps(w.refs, j, "batch") {
			rows = append(rows, &account{queued: a.queued, batch: true})
		}
		return nil
	})
	return rows, err
}

// alike reports whether an ended job is selected.
func (w *accountable) alike(j *fronts.Job, about *fronts.About) bool {
	all := w.wanted
	all.stated, all.all = true, true
	return all.shows(j, about)
}

// steps reports whether the references name a step.
func steps(refs []ref, j *fronts.Job, step string) bool {
	return len(refs) == 0 || slices.ContainsFunc(refs, func(r ref) bool {
		return r.names(j) && (r.step == "" || r.step == step)
	})
}

func (fs accountTable) help(c *fronts.Call) error {
	for i, f := range fs {
		fmt.Fprintf(c.Stdout, "%-19s ", f.name)
		if i%4 == 3 || i == len(fs)-1 {
			fmt.Fprintln(c.Stdout)
		}
	}
	return nil
}

// find returns the field of a name, or the first with such a beginning: Slurm's names may be abbreviated.
func (fs accountTable) find(name string) *accountField {
	for _, is := range []func(field string) bool{
		func(field string) bool { return strings.EqualFold(field, name) },
		func(field string) bool {
			return len(name) > 1 && len(field) > len(name) && strings.EqualFold(field[:len(name)], name)
		},
	} {
		if i := slices.IndexFunc(fs, func(f accountField) bool { return is(f.name) }); i >= 0 {
			return &fs[i]
		}
	}
	return nil
}

// jobID returns the line's id: 12, 3_0, 3_[0-3], or 12.batch for the batch step.
func (a *account) jobID() string { return a.id() + a.suffix() }

func (a *account) rawID() string { return strconv.FormatUint(a.ID, 10) + a.suffix() }

func (a *account) suffix() string {
	if a.batch {
		return ".batch"
	}
	return ""
}

// ofJob returns a text that only the job's line has, not its batch step's.
func (a *account) ofJob(text string) string {
	if a.batch {
		return ""
	}
	return text
}

// allocated returns the number of cpus that the job has or had.
func (a *account) allocated() int {
	if a.State < fronts.Running || a.Start.IsZero() {
		return 0
	}
	return a.Cores
}

func (a *account) times(t time.Time) string { return a.cal.stamp(t, "Unknown") }

// ended returns when the job ended, even if it never started.
func (a *account) ended() time.Time {
	if !a.State.Over() {
		return time.Time{}
	}
	return a.End
}

func (a *account) nodes() string {
	if len(a.Nodes) == 0 {
		return "None assigned"
	}
	return fold(a.Nodes)
}

// cpuTime returns the job's elapsed time multiplied by its cpus.
func (a *account) cpuTime() time.Duration { return a.elapsed() * time.Duration(a.Cores) }

// tres returns so many of a job's cpus, and the rest of its request, in TRES notation.
func tres(j *fronts.Job, cpus, nodes int, size func(int64) string) string {
	text := fmt.Sprintf("cpu=%d", cpus)
	if j.Mem > 0 {
		text += ",mem=" + size(j.Mem)
	}
	text += fmt.Sprintf(",node=%d,billing=%d", cmp.Or(nodes, 1), cpus)
	if j.GPUs > 0 {
		text += fmt.Sprintf(",gres/gpu=%d", j.GPUs)
	}
	return text
}
