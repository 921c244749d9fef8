package directives

import (
	"slices"
	"strings"
	"sync"

	"github.com/placectl/placectl/internal/attribute"
)

// Reasons that several options of sbatch share.
const (
	perSocketOrGPU = "per socket and per GPU"
	ownJobOnly     = "a job runs as who submits it"
	noSuchKnob     = "placectl has nothing like it, and the job would run otherwise than asked"
	changesNothing = "it changes nothing here"
)

// optionsSlurm are the options of Slurm's sbatch. The list is made when a script first has any.
var optionsSlurm = sync.OnceValue(func() *optionSet {
	return &optionSet{list: slices.Concat(slurmMapped(), slurmOfNodes(), slurmNoted(), slurmRefused()),
		stray: slurmStray}
})

// slurmStray refuses words that are no options.
func slurmStray(r *reader, w word) {
	s := spot{w.at, "#SBATCH"}
	if w.text == "hetjob" || w.text == "packjob" {
		s.option = w.text
		r.refuse(s, "a select has several kinds of chunk")
		return
	}
	r.refuse(s, "%q is no option: the line has options of sbatch alone", w.text)
}

// slurmMapped returns the options that have a flag of their own here.
func slurmMapped() []option {
	list := []option{
		{short: 'A', long: "account", read: to("account")},
		{short: 'a', long: "array", read: (*reader).slurmArray},
		{short: 'D', long: "chdir", read: to("chdir")},
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
		{long: "requeue", takes: never, read: func(r *reader, _ string) error {
			r.turn("no-requeue", false)
			return nil
		}},
		{short: 'p', long: "partition", read: (*reader).slurmPartition},
		{long: "prefer", read: (*reader).slurmPrefer},
		{long: "priority", read: (*reader).slurmPriority},
		{short: 'q', long: "qos", read: (*reader).slurmQOS},
		{long: "reservation", read: oneOf("reservation", "reservation")},
		{long: "signal", read: (*reader).slurmSignal},
		{short: 't', long: "time", read: (*reader).slurmWalltime},
		{long: "contiguous", takes: never, read: func(r *reader, _ string) error {
			return to("policy")(r, "contiguous")
		}},
	}
	for _, f := range attribute.Flags {
		o := lettered(f.Sbatch)
		switch f.Type {
		case attribute.Time:
			o.read = func(r *reader, v string) error { return r.slurmTime(f.Name, v) }
		case attribute.Truth:
			o.takes, o.read = never, switchOn(f.Name)
		default:
			o.read = to(f.Name)
		}
		if o.long != "" {
			list = append(list, o)
		}
	}
	return append(list, option{short: 'd', long: "dependency", read: (*reader).slurmDepend})
}

// lettered makes an option of its name, which follows its letter if it has one.
func lettered(name string) option {
	if short, long, ok := strings.Cut(name, " "); ok {
		return option{short: short[0], long: long}
	}
	return option{long: name}
}

// slurmNoted returns the options that change nothing here.
func slurmNoted() []option {
	return []option{
		{short: 's', long: "oversubscribe", takes: attached, read: noted("nodes are shared unless excl")},
		{long: "use-min-nodes", takes: never, read: noted(changesNothing)},
		{long: "propagate", takes: attached, read: noted("the limits of the submitter go along")},
		{long: "get-user-env", takes: attached, read: noted("the environment of the submitter goes along")},
		{long: "parsable", takes: never, read: noted("submit -o id writes the number alone")},
		{short: 'Q', long: "quiet", takes: never, read: noted(changesNothing)},
		{short: 'v', long: "verbose", takes: never, read: noted(changesNothing)},
		{long: "kill-on-invalid-dep", read: noteIf("yes", "a job whose dependency cannot be met any more is cancelled",
			"a job whose dependency cannot be met any more is always cancelled here; use --dependency=afterany")},
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
		{long: "threads-per-core", read: noteIf("1", "a cpu is what the nodes count as one",
			"cpus are asked for as ncpus, whatever core and socket they are of")},
		{long: "ntasks-per-core", read: noteIf("1", "a cpu is what the nodes count as one",
			"cpus are asked for as ncpus, whatever core and socket they are of")},
		{long: "hint", read: noteIf("nomultithread", "a cpu is what the nodes count as one",
			"cpus are asked for as ncpus, whatever core and socket they are of")},
	}
}

// slurmRefused returns the options that placectl cannot honour.
func slurmRefused() []option {
	var list []option
	add := func(why string, takes argument, names ...string) {
		for _, name := range names {
			o := lettered(name)
			o.takes, o.read = takes, refused(why)
			list = append(list, o)
		}
	}
	const placed = "cpus are asked for as ncpus, whatever core and socket they are of"
	add("use --export", always, "export-file")
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
	add(noSuchKnob, always, "bb", "bbf", "batch", "cpu-freq", "gpu-freq", "network", "tres-bind", "tres-per-task",
		"gpu-bind", "gres-flags",
		"mem-bind", "mem-update", "m distribution", "segment", "resources", "runtime")
	add(noSuchKnob, attached, "resv-ports", "consolidate-segments", "spread-segments")
	add("the nodes are the site's", never, "reboot")
	add("--directives says whose lines count", never, "ignore-pbs")
	return list
}
