package directives

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/spell"
)

// Reasons that several options of sbatch share.
const (
	perSocketOrGPU = "per socket and per GPU"
	ownJobOnly     = "a job runs as who submits it"
	noSuchKnob     = "placectl has nothing like it, and the job would run otherwise than asked"
	changesNothing = "it changes nothing here"
)

// optionsSlurm are the options of Slurm's sbatch.
var optionsSlurm = optionSet{
	list: slices.Concat(slurmMapped(), slurmOfNodes(), slurmNoted(), slurmRefused()),
	stray: func(r *reader, w word) {
		s := spot{w.at, "#SBATCH"}
		if w.text == "hetjob" || w.text == "packjob" {
			s.option = w.text
			r.refuse(s, "a select has several kinds of chunk")
			return
		}
		r.refuse(s, "%q is no option: the line has options of sbatch alone", w.text)
	},
}

// slurmMapped are the options that have a flag of their own here.
func slurmMapped() []option {
	return []option{
		{short: 'A', long: "account", read: to("account")},
		{short: 'a', long: "array", read: (*reader).array},
		{short: 'b', long: "begin", read: func(r *reader, v string) error { return r.slurmTime("begin", v) }},
		{short: 'D', long: "chdir", read: to("chdir")},
		{long: "deadline", read: func(r *reader, v string) error { return r.slurmTime("deadline", v) }},
		{short: 'd', long: "dependency", read: (*reader).slurmDepend},
		{short: 'e', long: "error", read: slurmFile("err")},
		{short: 'o', long: "output", read: slurmFile("out")},
		{short: 'i', long: "input", read: slurmFile("input")},
		{long: "open-mode", read: (*reader).slurmOpenMode},
		{short: 'x', long: "exclude", read: (*reader).slurmExclude},
		{long: "export", read: (*reader).slurmExport},
		{short: 'H', long: "hold", takes: never, read: switchOn("hold")},
		{short: 'J', long: "job-name", read: to("name")},
		{short: 'L', long: "licenses", read: (*reader).slurmLicenses},
		{long: "mail-type", read: (*reader).slurmMail},
		{long: "mail-user", read: func(r *reader, v string) error { r.drop("mail-to"); return r.addresses(v) }},
		{long: "nice", takes: attached, read: (*reader).slurmNice},
		{long: "no-requeue", takes: never, read: switchOn("no-requeue")},
		{long: "requeue", takes: never, read: func(r *reader, _ string) error { r.turn("no-requeue", false); return nil }},
		{short: 'p', long: "partition", read: oneOf("queue", "partition")},
		{long: "prefer", read: (*reader).slurmPrefer},
		{long: "priority", read: (*reader).slurmPriority},
		{short: 'q', long: "qos", read: (*reader).slurmQOS},
		{long: "reservation", read: oneOf("reservation", "reservation")},
		{long: "signal", read: (*reader).slurmSignal},
		{short: 't', long: "time", read: (*reader).slurmWalltime},
		{long: "contiguous", takes: never, read: func(r *reader, _ string) error { return to("policy")(r, "contiguous") }},
	}
}

// slurmNoted are the options that change nothing here.
func slurmNoted() []option {
	return []option{
		{short: 's', long: "oversubscribe", takes: attached, read: noted("nodes are shared unless excl")},
		{long: "use-min-nodes", takes: never, read: noted(changesNothing)},
		{long: "propagate", takes: attached, read: noted("the limits of the submitter go along")},
		{long: "comment", read: noted(changesNothing)},
		{long: "parsable", takes: never, read: noted("submit -o id writes the number alone")},
		{short: 'Q', long: "quiet", takes: never, read: noted(changesNothing)},
		{short: 'v', long: "verbose", takes: never, read: noted(changesNothing)},
		{long: "kill-on-invalid-dep", read: noted("a job whose dependency cannot be met any more is cancelled")},
		{long: "acctg-freq", read: noted("usage is always recorded")},
		{long: "profile", read: noted(changesNothing)},
		{long: "wckey", read: noted(changesNothing)},
		{long: "extra", read: noted(changesNothing)},
		{long: "mcs-label", read: noted(changesNothing)},
		{long: "delay-boot", read: noted(changesNothing)},
		{long: "wait-all-nodes", read: noted(changesNothing)},
		{long: "oom-kill-step", takes: attached, read: noted(changesNothing)},
		{long: "stepmgr", takes: never, read: noted(changesNothing)},
		{long: "usage", takes: never, read: noted(changesNothing)},
		{long: "threads-per-core", read: noteIf("1", "a cpu is what the nodes count as one", "cpus are asked for as ncpus, whatever core and socket they are of")},
		{long: "ntasks-per-core", read: noteIf("1", "a cpu is what the nodes count as one", "cpus are asked for as ncpus, whatever core and socket they are of")},
		{long: "hint", read: noteIf("nomultithread", "a cpu is what the nodes count as one", "cpus are asked for as ncpus, whatever core and socket they are of")},
	}
}

// slurmRefused are the options that cannot be kept to.
func slurmRefused() []option {
	var list []option
	add := func(why string, takes argument, names ...string) {
		for _, name := range names {
			o := option{long: name, takes: takes, read: refused(why)}
			if short, long, ok := strings.Cut(name, " "); ok {
				o.short, o.long = short[0], long
			}
			list = append(list, o)
		}
	}
	const placed = "cpus are asked for as ncpus, whatever core and socket they are of"
	add("use --export", always, "export-file")
	add("use --export", attached, "get-user-env")
	add(perSocketOrGPU, always, "gpus-per-socket", "cpus-per-gpu", "mem-per-gpu", "ntasks-per-gpu")
	add(ownJobOnly, always, "gid", "uid")
	add(placed, always, "ntasks-per-socket", "B extra-node-info", "sockets-per-node", "cores-per-socket")
	add("place=group=RES", always, "switches")
	add("a job has one walltime: --time", always, "time-min")
	add("placectl when", never, "test-only")
	add("in a script there is nothing to wrap", always, "wrap")
	add("placectl wait", never, "W wait")
	add("a job ends with the first of its nodes", attached, "k no-kill")
	add("a cpu is given to one task", never, "O overcommit")
	add("a database is one cluster: --db", always, "M clusters", "cluster-constraint")
	add("call the container program in the script", always, "container", "container-id")
	add("no cores are set aside on a node", always, "S core-spec", "thread-spec")
	add(noSuchKnob, always, "bb", "bbf", "batch", "cpu-freq", "gpu-freq", "network", "tres-bind", "tres-per-task", "gpu-bind", "gres-flags",
		"mem-bind", "mem-update", "m distribution", "segment", "resources", "runtime")
	add(noSuchKnob, attached, "resv-ports", "consolidate-segments", "spread-segments")
	add("the nodes are the site's", never, "reboot")
	add("--directives says whose lines count", never, "ignore-pbs")
	return list
}

// oneOf maps an option to a flag that takes one name, and no list.
func oneOf(flag, what string) func(*reader, string) error {
	return func(r *reader, v string) error {
		if strings.Contains(v, ",") {
			return fmt.Errorf("%q is a list; a job names one %s", v, what)
		}
		return to(flag)(r, v)
	}
}

func (r *reader) slurmOpenMode(v string) error {
	switch strings.ToLower(v) {
	case "a", "append":
		r.set("out-mode", "append")
	case "t", "truncate":
		r.set("out-mode", "truncate")
	default:
		return fmt.Errorf("%q is neither append nor truncate", v)
	}
	return nil
}

// slurmDepend reads TYPE:JOB[:JOB], joined by commas: all have to be met.
func (r *reader) slurmDepend(v string) error {
	switch {
	case strings.Contains(v, "?"):
		return errors.New("? (or): a job waits for all that it depends on")
	case strings.Contains(v, "+"):
		return errors.New("+minutes: a job waits for others, and --begin names a time")
	}
	for part := range strings.SplitSeq(v, ",") {
		kind, jobs, _ := strings.Cut(part, ":")
		if !slices.Contains(dependencies, kind) {
			return fmt.Errorf("%q is not after, afterok, afternotok or afterany", kind)
		}
		for job := range strings.SplitSeq(jobs, ":") {
			ours := job
			if number, member, ok := strings.Cut(job, "_"); ok { // 12_3, 12_*
				ours = number + "[" + strings.TrimPrefix(member, "*") + "]"
			}
			if !isJob(ours) {
				return fmt.Errorf("%q is not a job such as 12 or 12_3", job)
			}
			r.add(kind, ours)
		}
	}
	return nil
}

// slurmExport reads ALL, NONE, NIL and variables. ALL and NONE begin anew.
func (r *reader) slurmExport(v string) error {
	items, err := spell.SplitItems(v)
	if err != nil {
		return err
	}
	for i, item := range items {
		switch strings.ToUpper(item) {
		case "ALL":
			items[i] = "all"
		case "NONE", "NIL":
			items[i] = "none"
		}
	}
	all, none := slices.Contains(items, "all"), slices.Contains(items, "none")
	if none && len(items) > 1 {
		return errors.New("NONE stands alone")
	}
	if was, ok := r.was("export"); all || none || ok && was.Value == "none" {
		r.drop("export")
	}
	return r.variables(spell.JoinItems(items))
}

// slurmLicenses reads NAME[:N], joined by commas.
func (r *reader) slurmLicenses(v string) error {
	if strings.ContainsAny(v, "|;") {
		return errors.New("| (or): a job has all the pools that it asks for")
	}
	for item := range strings.SplitSeq(v, ",") {
		name, amount, ok := strings.Cut(item, ":")
		if !ok {
			amount = "1"
		}
		switch {
		case strings.Contains(item, "@"):
			return fmt.Errorf("%q names a server: pools are the cluster's", item)
		case name == "" || strings.Contains(name, "=") || !isDigits(amount):
			return fmt.Errorf("%q is not NAME or NAME:N", item)
		}
		r.pool(name, amount)
	}
	return nil
}

// slurmMail reads types of events, joined by commas. Lines add up, NONE begins anew.
func (r *reader) slurmMail(v string) error {
	for kind := range strings.SplitSeq(v, ",") {
		switch strings.ToUpper(kind) {
		case "NONE":
			r.drop("mail")
		case "BEGIN":
			r.mail(true, false, false, false)
		case "END":
			r.mail(false, true, false, false)
		case "FAIL":
			r.mail(false, false, true, false)
		case "REQUEUE":
			r.mail(false, false, false, true)
		case "ALL":
			r.mail(true, true, true, true)
		case "":
			return errors.New("it names no event")
		default:
			r.note(r.here, fmt.Sprintf("%s: left out: mail tells of BEGIN, END, FAIL and REQUEUE", kind))
		}
	}
	return nil
}

// slurmNice reads the N that a priority is lowered by.
func (r *reader) slurmNice(v string) error {
	n := 100
	if v != "" {
		var err error
		if n, err = strconv.Atoi(v); err != nil || n > 1<<31 || n < -1<<31 {
			return fmt.Errorf("%q is not a whole number", v)
		}
	}
	r.set("priority", strconv.Itoa(-n))
	return nil
}

func (r *reader) slurmPriority(v string) error {
	n, err := strconv.ParseUint(v, 10, 32)
	if err != nil {
		return fmt.Errorf("%q is not a whole number from 0 to %d; who is to be first, whatever the others have, cannot be said", v, uint32(1<<32-1))
	}
	r.set("priority", strconv.FormatUint(n, 10))
	return nil
}

// slurmPrefer reads a|b: nodes with any of the features are liked.
func (r *reader) slurmPrefer(v string) error {
	features, err := featureList(v, "|")
	if err != nil {
		return err
	}
	r.set("prefer", strings.Join(features, ","))
	return nil
}

func (r *reader) slurmQOS(v string) error {
	if r.o.Class == nil || !r.o.Class(v) {
		r.note(r.here, fmt.Sprintf("left out: there is no class %s", spell.Quoted(v)))
		return nil
	}
	return to("class")(r, v)
}

func (r *reader) slurmWalltime(v string) error {
	switch strings.ToUpper(v) {
	case "0", "UNLIMITED", "INFINITE", "-1":
		return fmt.Errorf("%s: a job has to say when it ends", v)
	}
	seconds, err := slurmSeconds(v)
	if err != nil {
		return err
	}
	r.set("walltime", clock(seconds))
	return nil
}
