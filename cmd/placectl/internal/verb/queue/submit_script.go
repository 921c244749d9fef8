package queue

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/directives"
	"github.com/placectl/placectl/cmd/placectl/internal/infile"
	"github.com/placectl/placectl/cmd/placectl/internal/payload"
	"github.com/placectl/placectl/cmd/placectl/internal/request"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/bytejson"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/placer/fairshare"
	"github.com/urfave/cli/v2"
)

// Script is a job script, with the directives that count.
type Script struct {
	*payload.Script
	Counts []verbs.Given     // the flags of directives that count,
	at     []infile.Position // and where they stand
}

// scriptOf splits the arguments of submit into selects and the script, and reads that. s is nil if
// there is none.
func scriptOf(r *session.Run, c *cli.Context, args []string) (selects []string, s *Script, err error) {
	selects, files := payload.Divide(args)
	if c.IsSet("script") {
		files = append([]string{c.String("script")}, files...)
	}
	if err := readCarried(r, c); err != nil {
		return nil, nil, err
	}
	if r.Carried != nil && r.Carried.Script != nil {
		s, err = carriedScript(r)
		return selects, s, err
	}
	const asCommand = "to run a command, put -- before it: placectl submit -- "
	if len(files) > 1 {
		if _, err := os.Stat(files[0]); err == nil {
			return nil, nil, usage.Errorf("only one script is possible, but %s are given", text.List(files, "and"))
		}
		return nil, nil, usage.Errorf("%s%s", asCommand, text.Printable(strings.Join(args, " ")))
	}
	if len(files) == 0 {
		for _, flag := range []string{"directives", "lax"} {
			if c.IsSet(flag) {
				return nil, nil, usage.Errorf("--%s needs a script", flag)
			}
		}
		return selects, nil, nil
	}
	s, err = readScript(r, files[0])
	if errors.Is(err, fs.ErrNotExist) && !c.IsSet("script") {
		err = usage.Errorf("%s is neither a select, such as 2:ncpus=4, nor a file; %s%s", text.Quoted(files[0]),
			asCommand, text.Printable(strings.Join(args, " ")))
	}
	return selects, s, err
}

// readScript reads a script. The script's text becomes part of the request that a key is bound to.
func readScript(r *session.Run, name string) (*Script, error) {
	in, err := r.Input(name)
	if err != nil {
		return nil, usage.Errorf("%w", err)
	}
	defer in.Close()
	s, err := payload.ReadScript(session.ShownFile(name), in)
	return &Script{Script: s}, err
}

// carriedScript returns the script that another host has sent.
func carriedScript(r *session.Run) (*Script, error) {
	s, err := payload.ReadScript(r.Carried.ScriptName, bytes.NewReader(r.Carried.Script))
	return &Script{Script: s}, err
}

// process describes this process as a submitter.
func process(r *session.Run) (from payload.Process, err error) {
	me, err := r.Me()
	if err != nil {
		return from, err
	}
	from = payload.Process{Me: me, Environ: r.Environ, Database: r.DB, Note: r.Notef, Detail: r.Debugf,
		Original: r.Front != nil}
	if r.Front != nil && r.Front.Family == directives.PBS {
		from.Export = "none" // PBS_O_ variables are derived from it; -v and -V add to it
	}
	if r.Carried != nil {
		from.Environ, from.Carried = r.Carried.Environ, r.Carried
	}
	return from, nil
}

// payloadOf returns what a job carries: the script, if any, and the environment of this process.
func payloadOf(r *session.Run, c *cli.Context, s *Script) (*engine.Payload, error) {
	from, err := process(r)
	if err != nil {
		return nil, err
	}
	var read *payload.Script
	if s != nil {
		read = s.Script
	}
	p, err := from.Read(c, read)
	if err != nil {
		return nil, err
	}
	return p, counts(r, &p.Ending)
}

// counts refuses a flag of the command line that has no effect without another one. Front-ends and
// scripts may have such options.
func counts(r *session.Run, e *engine.Ending) error {
	if r.Front != nil {
		return nil
	}
	for _, g := range r.Inv.Flags {
		switch name := g.Name(); {
		case (name == "retry-on" || name == "retry-wait") && e.Retries == 0:
			return usage.Errorf("--%s applies to retries, and there are none: add --retries 3", name)
		case name == "mail-to" && e.Mail == "":
			return usage.Errorf("--mail-to needs --mail, such as --mail end,fail")
		}
	}
	return nil
}

// Directed adds the directives of a script to the command line, which takes precedence. If sbatch
// would choose among several alternatives, it takes the one that could start first now.
func Directed(r *session.Run, c *cli.Context, tx *engine.Tx, s *Script) (*cli.Context, error) {
	o, err := directiveOptions(r, c, tx)
	if err != nil {
		return nil, err
	}
	lines := infile.New(s.Name, []byte(s.Text))
	if s.Submission, err = directives.Read(lines, o); err != nil {
		return nil, err
	}
	best, first := s.Submission, time.Time{}
	for _, choice := range best.Choices {
		o.Choice = choice
		if s.Submission, err = directives.Read(lines, o); err != nil {
			return nil, err
		}
		start, err := startOf(r, c, tx, s)
		if err != nil {
			return nil, err
		}
		if !start.IsZero() && (first.IsZero() || start.Before(first)) {
			best, first = s.Submission, start
		}
	}
	s.Submission = best
	for _, n := range s.Notes {
		r.Notef("%s", n)
	}
	return counted(r, c, s)
}

// startOf returns when a job as the script asks for could start, the zero time if that is unknown.
func startOf(r *session.Run, c *cli.Context, tx *engine.Tx, s *Script) (at time.Time, err error) {
	if c, err = counted(r, c, s); err != nil {
		return at, err
	}
	selects, _ := payload.Divide(plainArgs(r, c))
	q, err := request.Read(c, selects)
	if err != nil {
		return at, err
	}
	q.User = cmp.Or(q.User, r.Self())
	settings, err := tx.Config().Settings()
	if err != nil {
		return at, err
	}
	if _, err := tx.Queues().Get(q.Queue); errors.Is(err, engine.ErrNotFound) && q.Queue == settings.Partition {
		q.Queue = ""
	}
	list, err := tx.Ask().When(q, tx.Now(), 1)
	if err != nil || len(list) == 0 { // the error is reported for the chosen script
		return at, nil
	}
	return list[0].Start, nil
}

// counted adds to the command line those flags of a script that it does not set itself.
func counted(r *session.Run, c *cli.Context, s *Script) (*cli.Context, error) {
	s.Counts, s.at = nil, nil
	for _, f := range s.Flags {
		flag := verbs.FindFlag(r.Verb.Flags, f.Name)
		if flag == nil {
			return nil, &infile.Error{Position: f.At, Err: fmt.Errorf("it uses %s, which submit does not have",
				f.Word())}
		}
		g := verbs.Given{Flag: flag, Value: f.Value}
		if f.Switch {
			g.Value = "true"
		}
		if err := verbs.CheckValue(flag, g.Value); err != nil {
			return nil, &infile.Error{Position: f.At, Err: fmt.Errorf("--%s %w", f.Name, err)}
		}
		if !saysItself(r, c, f.Name) {
			s.Counts, s.at = append(s.Counts, g), append(s.at, f.At)
		}
	}
	inv := r.Inv
	inv.Flags = slices.Concat(s.Counts, r.Inv.Flags)
	return inv.Context(r.Ctx)
}

// inList finds what a resource list may contain besides resources.
var inList = sync.OnceValue(func() map[string]*regexp.Regexp {
	return map[string]*regexp.Regexp{"walltime": regexp.MustCompile(`(^|,)\s*walltime\s*=`),
		"place": regexp.MustCompile(`(^|,)\s*place\s*=`)}
})

// saysItself reports whether the command line already sets what a directive's flag would.
func saysItself(r *session.Run, c *cli.Context, name string) bool {
	sel := c.String("select")
	if selects, _ := payload.Divide(plainArgs(r, c)); len(selects) > 0 {
		sel = selects[len(selects)-1]
	}
	if name == "select" && sel != "" || inList()[name] != nil && inList()[name].MatchString(sel) {
		return true
	}
	return slices.ContainsFunc(r.Inv.Flags, func(g verbs.Given) bool { return g.Name() == name })
}

// plainArgs returns the arguments in front of a command.
func plainArgs(r *session.Run, c *cli.Context) []string {
	args := c.Args().Slice()
	if r.Dash >= 0 {
		args = args[:r.Dash]
	}
	return args
}

// directiveOptions returns what the parser of directives needs to know about submit and the
// database.
func directiveOptions(r *session.Run, c *cli.Context, tx *engine.Tx) (o directives.Options, err error) {
	host, err := os.Hostname()
	if err != nil {
		return o, err
	}
	defs, err := tx.Config().Resources()
	if err != nil {
		return o, err
	}
	shares, err := tx.Shares().Get()
	if err != nil {
		return o, err
	}
	o = directives.Options{Choose: c.String("directives"), Lax: c.Bool("lax"), Host: host, Now: r.Instant(),
		Zone: r.Loc, MaxArray: engine.MaxArray}
	o.Resource = func(name string) bool { _, ok := defs.Lookup(name); return ok }
	o.Pool = func(name string) bool { _, ok := defs.Pool(name); return ok }
	o.Class = func(name string) bool {
		return shares != nil && slices.ContainsFunc(shares.Loads, func(l fairshare.ClassLoad) bool {
			return l.Class == name
		})
	}
	if f := r.Front; f != nil {
		o.Submits, o.Given, o.Choose = f.Family, f.Given, ""
		settings, err := tx.Config().Settings()
		if err != nil {
			return o, err
		}
		o.Server = settings.Server
	}
	for _, f := range r.Verb.Flags {
		_, list := f.(*cli.StringSliceFlag)
		o.Own = append(o.Own, directives.OwnFlag{Names: f.Names(), Switch: verbs.IsSwitch(f), List: list})
	}
	return o, nil
}

// Blame names the directive that causes an error: the first with which the error occurs.
func Blame(r *session.Run, err error, selects []string, s *Script) error {
	for i := range len(s.Counts) + 1 {
		inv := r.Inv
		inv.Flags = slices.Concat(s.Counts[:i], r.Inv.Flags)
		c, e := inv.Context(r.Ctx)
		if e == nil {
			_, e = Submission(r, c, selects, s)
		}
		switch {
		case e != nil && i == 0:
			return err // the command line alone is wrong
		case e != nil:
			return &infile.Error{Position: s.at[i-1], Err: e}
		}
	}
	return err
}

// bindDirectory adds the directory to the request that a key is bound to: the same command
// elsewhere is another request.
func bindDirectory(r *session.Run, c *cli.Context) error {
	if r.Carried != nil {
		r.Inputs.Add(r.Carried.Under(c.String("chdir")))
		return nil
	}
	dir, err := filepath.Abs(c.String("chdir"))
	r.Inputs.Add(dir)
	return err
}

// carry returns the command line of a submission that is made on another host, and the input for
// it: the environment here, and the script. Errors in them are found here.
func carry(r *session.Run, inv session.Invocation, c *cli.Context, in io.Reader) (session.Invocation, io.Reader,
	error) {
	selects, sc, err := scriptOf(r, c, plainArgs(r, c))
	if err != nil || sc == nil && r.Dash < 0 {
		return inv, in, err
	}
	checked := payload.Process{Environ: r.Environ, Note: func(string, ...any) {}, Detail: func(string, ...any) {}}
	if _, err := checked.Read(c, nil); err != nil {
		return inv, nil, err
	}
	var script *payload.Script
	if sc != nil {
		script = sc.Script
	}
	along, err := payload.Carry(r.Environ(), script)
	if err != nil {
		return inv, nil, err
	}
	if c.IsSet("each") {
		if along.Lines, err = carryLines(r, c); err != nil {
			return inv, nil, err
		}
	}
	text, err := bytejson.Marshal(along)
	if err != nil {
		return inv, nil, err
	}
	out := inv
	out.Flags = slices.DeleteFunc(slices.Clone(inv.Flags), func(g verbs.Given) bool {
		return g.Name() == "script" || g.Name() == "each"
	})
	out.Flags = append(out.Flags, verbs.Given{Flag: verbs.FindFlag(r.Verb.Flags, request.Carried), Value: "true"})
	out.Args, out.Dash = selects, -1
	if r.Dash >= 0 {
		out.Args, out.Dash = slices.Concat(selects, inv.Args[r.Dash:]), len(selects)
	}
	return out, bytes.NewReader(text), nil
}

// readCarried reads what carry has sent, nil if the submission is local. The script is part of the
// request that a key is bound to, the environment is not.
func readCarried(r *session.Run, c *cli.Context) (err error) {
	if !c.Bool(request.Carried) || r.Carried != nil {
		return nil
	}
	text, err := io.ReadAll(r.Stdin)
	if err != nil {
		return err
	}
	along := new(payload.Carried)
	if err := bytejson.Unmarshal(text, along); err != nil {
		return usage.Errorf("--%s is only for placectl --db ssh://...: %w", request.Carried, err)
	}
	r.Inputs.Add(string(along.Script))
	if along.Lines != nil {
		r.Inputs.Add(string(along.Lines))
	}
	r.Carried = along
	return nil
}
