package directives

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// optionsPBS are the options of OpenPBS's qsub. The list is made when a script first has any.
var optionsPBS = sync.OnceValue(func() *optionSet {
	return &optionSet{list: pbsList(), stray: pbsStray, unknown: pbsUnknown}
})

// optionsQsub are the options of our own qsub, which also accepts scripts for Torque's.
var optionsQsub = sync.OnceValue(func() *optionSet {
	torque := []option{{short: 't', read: (*reader).array}, {short: 'd', read: to("chdir")},
		{short: 'w', read: to("chdir")}}
	return &optionSet{list: append(pbsList(), torque...), stray: pbsStray}
})

func pbsList() []option {
	return []option{
		{short: 'a', read: (*reader).pbsBegin},
		{short: 'A', read: (*reader).pbsAccount},
		{short: 'P', read: (*reader).pbsProject},
		{short: 'c', read: noteIf("n", "there are no checkpoints", "no checkpoints")},
		{short: 'C', read: refused("use #PBS")},
		{short: 'e', read: func(r *reader, v string) error { return r.pbsPath(&r.pbs.err, v, "%j.ER") }},
		{short: 'o', read: func(r *reader, v string) error { return r.pbsPath(&r.pbs.out, v, "%j.OU") }},
		{short: 'j', read: (*reader).pbsJoin},
		{short: 'k', read: (*reader).pbsKeep},
		{short: 'R', read: refused("output files are never removed")},
		{short: 'h', takes: never, read: switchOn("hold")},
		{short: 'I', takes: never, read: refused("interactive: placectl run")},
		{short: 'X', takes: never, read: refused("interactive: placectl run")},
		{short: 'G', takes: never, read: refused("interactive: placectl run")},
		{short: 'f', takes: never, read: noted("submit does not wait anyway")},
		{short: 'J', read: (*reader).array},
		{short: 'l', read: (*reader).pbsResources},
		{short: 'm', read: (*reader).pbsMail},
		{short: 'M', read: (*reader).addresses},
		{short: 'N', read: to("name")},
		{short: 'p', read: (*reader).pbsPriority},
		{short: 'q', read: (*reader).pbsQueue},
		{short: 'r', read: (*reader).pbsRerun},
		{short: 'S', read: (*reader).pbsShell},
		{short: 'u', read: refused("a job runs as who submits it")},
		{short: 'v', read: (*reader).variables},
		{short: 'V', takes: never, read: func(r *reader, _ string) error { r.export([]string{"all"}); return nil }},
		{short: 'W', read: (*reader).pbsAttributes},
		{short: 'z', takes: never, read: noted("the number of a job is always told")},
	}
}

// pbsStray refuses words that are no options.
func pbsStray(r *reader, w word) {
	r.refuse(spot{w.at, "#PBS"}, "%q is no option: the line has options of qsub alone", w.text)
}

// pbsUnknown says what to write instead of an option of Torque's qsub.
func pbsUnknown(name string) string {
	switch name {
	case "t":
		return "an option of Torque's qsub: write -J 0-99 for an array"
	case "d":
		return "an option of Torque's qsub: write #placectl --chdir DIR for the directory"
	}
	return ""
}

// pbsOptions are the options of a qsub script that must be combined.
type pbsOptions struct {
	account, project spot
	out, err         pbsOutput
	join             spot
	joined           string // oe, eo, n or nothing
	resources        resourceLists
}

// pbsOutput says where a stream goes.
type pbsOutput struct {
	spot
	path string
}

// finishPBS makes flags of the options that must be combined.
func (r *reader) finishPBS() {
	r.finishResources()
	p := &r.pbs
	out, err := p.out, p.err
	r.Joined = p.joined == "oe" || p.joined == "eo"
	switch {
	case p.joined == "oe" && err.given():
		r.note(err.spot, "both streams go where -o says (-j oe)")
		err = pbsOutput{}
	case p.joined == "eo":
		if out.given() {
			r.note(out.spot, "both streams go where -e says (-j eo)")
		}
		out, err = err, pbsOutput{}
	case p.joined == "n" && !err.given():
		err = pbsOutput{p.join, "placectl-%j.err"}
	}
	if out.given() {
		r.setUnlessLater(out.spot, "out", out.path)
	}
	if err.given() {
		r.setUnlessLater(err.spot, "err", err.path)
	}
}

// projectIsAccount is the note on -A beside -P: in PBS, -A is only a text for accounting.
const projectIsAccount = "the account is the project that -P names"

// pbsAccount reads -A, which names the account unless -P does.
func (r *reader) pbsAccount(v string) error {
	r.pbs.account = r.here
	if r.pbs.project.given() {
		r.note(r.here, projectIsAccount)
		return nil
	}
	return to("account")(r, v)
}

// pbsProject reads -P.
func (r *reader) pbsProject(v string) error {
	r.pbs.project = r.here
	if r.pbs.account.given() {
		r.note(r.pbs.account, projectIsAccount)
	}
	return to("account")(r, v)
}

// pbsPath reads [HOST:]PATH. It translates PBS's variable for the index into our notation, and escapes
// each %. In a directory, the file gets the name that PBS would give it.
func (r *reader) pbsPath(stream *pbsOutput, v, inDirectory string) error {
	path := v
	if host, rest, ok := strings.Cut(v, ":"); ok && !strings.Contains(host, "/") {
		if !r.isHere(host) && r.o.Submits == None {
			return fmt.Errorf("%s is another host: output is written where the job runs, like its other files", host)
		}
		path = rest
	}
	if path == "" {
		return errors.New("the path is empty")
	}
	path = strings.ReplaceAll(strings.ReplaceAll(path, "%", "%%"), "^array_index^", "%a")
	if r.o.Submits != None { // as qsub, which knows the job's whole id
		id := "%j." + strings.ReplaceAll(r.o.Server, "%", "%%")
		path = strings.NewReplacer(pbsJobID[0], id, pbsJobID[1], id).Replace(path)
		inDirectory = id + strings.TrimPrefix(inDirectory, "%j")
	}
	if strings.HasSuffix(path, "/") {
		path += inDirectory
	}
	*stream = pbsOutput{r.here, path}
	return nil
}

// isHere reports whether a name is this host's, with or without its domain.
func (r *reader) isHere(host string) bool {
	short := func(name string) string { name, _, _ = strings.Cut(name, "."); return name }
	switch {
	case host == "" || r.o.Host == "":
		return false
	case strings.EqualFold(host, "localhost"), strings.EqualFold(host, r.o.Host):
		return true
	case strings.Contains(host, ".") && strings.Contains(r.o.Host, "."):
		return false
	}
	return strings.EqualFold(short(host), short(r.o.Host))
}

func (r *reader) pbsJoin(v string) error {
	if v != "oe" && v != "eo" && v != "n" {
		return fmt.Errorf("%q is not oe, eo or n", v)
	}
	r.pbs.join, r.pbs.joined = r.here, v
	return nil
}

func (r *reader) pbsKeep(v string) error {
	if v == "" || strings.Trim(v, "doen") != "" {
		return fmt.Errorf("%q is not d, o, e, oe, eo or n", v)
	}
	r.note(r.here, "output always goes straight to its file")
	return nil
}

// pbsMail reads -m: n, or letters of a, b, e and j.
func (r *reader) pbsMail(v string) error {
	if v == "n" {
		r.drop("mail")
		return nil
	}
	if v == "" || strings.Trim(v, "abej") != "" {
		return fmt.Errorf("%q is neither n nor letters of a, b, e and j", v)
	}
	if strings.Contains(v, "j") {
		r.note(r.here, "j: each job of an array is told of by itself anyway")
	}
	r.drop("mail")
	r.mail(strings.Contains(v, "b"), strings.Contains(v, "e"), strings.Contains(v, "a"), false)
	return nil
}

func (r *reader) pbsPriority(v string) error {
	const most = 1024
	n, err := strconv.Atoi(v)
	if err != nil || n < -most || n >= most {
		return fmt.Errorf("%q is not a whole number from -1024 to 1023", v)
	}
	r.set("priority", strconv.Itoa(n))
	return nil
}

func (r *reader) pbsQueue(v string) error {
	if strings.Contains(v, "@") {
		return fmt.Errorf("%q names a server, and there is only one: name the queue alone", v)
	}
	return to("queue")(r, v)
}

func (r *reader) pbsRerun(v string) error {
	if v != "y" && v != "n" {
		return fmt.Errorf("%q is neither y nor n", v)
	}
	r.turn("no-requeue", v == "n")
	return nil
}

func (r *reader) pbsShell(v string) error {
	if v == "" || strings.ContainsAny(v, "@,") {
		return fmt.Errorf("%q is not the path of a program, the same on all hosts", v)
	}
	r.Interpreter = v
	return nil
}
