package directives

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/placectl/placectl/internal/text"
)

// The options of sbatch that correspond to one flag each.

// oneOf maps an option to a flag that takes one name, not a list.
func oneOf(flag, what string) func(*reader, string) error {
	return func(r *reader, v string) error {
		if strings.Contains(v, ",") {
			return fmt.Errorf("%q is a list; a job has one %s", v, what)
		}
		return to(flag)(r, v)
	}
}

func (r *reader) slurmOpenMode(v string) error {
	mode := map[string]string{"a": "append", "append": "append", "t": "truncate",
		"truncate": "truncate"}[strings.ToLower(v)]
	if mode == "" {
		return fmt.Errorf("%q is neither append nor truncate", v)
	}
	r.set("out-mode", mode)
	r.Variables = slices.DeleteFunc(r.Variables, func(kv string) bool {
		return strings.HasPrefix(kv, "SLURM_OPEN_MODE=")
	})
	r.Variables = append(r.Variables, "SLURM_OPEN_MODE="+mode[:1])
	return nil
}

// slurmDepend reads TYPE:JOB[:JOB], joined by commas: all must be met.
func (r *reader) slurmDepend(v string) error {
	switch {
	case strings.Contains(v, "?"):
		return errors.New("? (or) is not supported: a job waits for all its dependencies")
	case strings.Contains(v, "+"):
		return errors.New("+minutes is not supported: --begin names a time")
	}
	for part := range strings.SplitSeq(v, ",") {
		kind, jobs, _ := strings.Cut(part, ":")
		switch {
		case part == "singleton":
			r.turn("singleton", true)
			continue
		case kind != "aftercorr" && !slices.Contains(dependencies, kind):
			return fmt.Errorf("%q is not after, afterok, afternotok, afterany, aftercorr or singleton", kind)
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

// slurmExport reads ALL, NONE, NIL and variables. ALL and NONE discard what came before.
func (r *reader) slurmExport(v string) error {
	items, err := text.SplitItems(v)
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
	return r.variables(text.JoinItems(items))
}

// slurmLicenses reads NAME[:N], joined by commas.
func (r *reader) slurmLicenses(v string) error {
	if strings.ContainsAny(v, "|;") {
		return errors.New("| (or) is not supported: a job has all the pools that it asks for")
	}
	for item := range strings.SplitSeq(v, ",") {
		name, amount, ok := strings.Cut(item, ":")
		if !ok {
			amount = "1"
		}
		switch {
		case strings.Contains(item, "@"):
			return fmt.Errorf("%q names a server: pools belong to the cluster", item)
		case name == "" || strings.Contains(name, "=") || !isDigits(amount):
			return fmt.Errorf("%q is not NAME or NAME:N", item)
		}
		r.pool(name, amount)
	}
	return nil
}

// slurmMail reads types of events, joined by commas. Lines add up, and NONE discards what came before.
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

// slurmNice reads the number by which to lower a priority.
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
		return fmt.Errorf("%q is not a whole number from 0 to %d; there is no value that puts a job before all others",
			v, uint32(1<<32-1))
	}
	r.set("priority", strconv.FormatUint(n, 10))
	return nil
}

// slurmPrefer reads a|b: nodes with any of the features are preferred.
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
		r.note(r.here, fmt.Sprintf("left out: there is no class %s", text.Quoted(v)))
		return nil
	}
	return to("class")(r, v)
}

func (r *reader) slurmWalltime(v string) error {
	switch strings.ToUpper(v) {
	case "0", "UNLIMITED", "INFINITE", "-1":
		return fmt.Errorf("%s: a job needs an end", v)
	}
	seconds, err := SlurmSeconds(v)
	if err != nil {
		return err
	}
	r.set("walltime", clock(seconds))
	return nil
}
