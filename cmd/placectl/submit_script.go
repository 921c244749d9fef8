package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"

	"github.com/placectl/placectl/cmd/placectl/internal/directives"
	"github.com/placectl/placectl/cmd/placectl/internal/infile"
	"github.com/placectl/placectl/cmd/placectl/internal/payload"
	"github.com/placectl/placectl/cmd/placectl/internal/spell"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/placer/fairshare"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

// script is a job script, and what counts of its lines of directives.
type script struct {
	*payload.Script
	counts []verbs.Given     // the flags of directives that count,
	at     []infile.Position // and where they stand
}

// scriptOf parts the arguments of submit into selects and the script, and reads that; nil
// where there is none.
func (r *runner) scriptOf(c *cli.Context, args []string) (selects []string, s *script, err error) {
	selects, files := payload.Divide(args)
	if c.IsSet("script") {
		files = append([]string{c.String("script")}, files...)
	}
	if err := r.readCarried(c); err != nil {
		return nil, nil, err
	}
	if r.carried != nil && r.carried.Script != nil {
		s, err = r.carriedScript()
		return selects, s, err
	}
	if len(files) > 1 {
		return nil, nil, usagef("it can have one script, and %s are given", spell.List(files, "and"))
	}
	if len(files) == 0 {
		for _, flag := range []string{"directives", "lax"} {
			if c.IsSet(flag) {
				return nil, nil, usagef("--%s says how a script is read, and there is none", flag)
			}
		}
		return selects, nil, nil
	}
	s, err = r.readScript(files[0])
	if errors.Is(err, fs.ErrNotExist) && !c.IsSet("script") {
		err = usagef("%s is neither a select, such as 2:ncpus=4, nor a file", spell.Quoted(files[0]))
	}
	return selects, s, err
}

// readScript reads a script. Its text becomes part of what a key is bound to.
func (r *runner) readScript(name string) (*script, error) {
	in, err := r.input(name)
	if err != nil {
		return nil, usagef("%w", err)
	}
	defer in.Close()
	s, err := payload.ReadScript(shownFile(name), in)
	return &script{Script: s}, err
}

// carriedScript is the script that came from another host.
func (r *runner) carriedScript() (*script, error) {
	s, err := payload.ReadScript(r.carried.ScriptName, bytes.NewReader(r.carried.Script))
	return &script{Script: s}, err
}

// payload is what a job is to carry: the script, nil for none, and the surroundings of
// this process.
func (r *runner) payload(c *cli.Context, s *script) (*store.Payload, error) {
	from := payload.Process{Environ: r.environ, Database: r.DB, Note: r.notef, Detail: r.debugf, Original: r.front != nil}
	if r.carried != nil {
		from.Environ, from.Carried = r.carried.Environ, r.carried
	}
	if s == nil {
		return from.Read(c, nil)
	}
	return from.Read(c, s.Script)
}

// payloadFlags are the flags that say in what surroundings a job is to run.
func payloadFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "script", Usage: "what is run, `FILE`, - for standard input; its #placectl, #PBS and #SBATCH lines count"},
		&cli.BoolFlag{Name: carriedFlag, Hidden: true},
		&cli.StringFlag{Name: "directives", Usage: "`WHOSE` lines of the script count besides #placectl: pbs, slurm or none (those that it has)"},
		&cli.BoolFlag{Name: "lax", Usage: "options of #PBS and #SBATCH lines that nobody knows are left out and said, not refused"},
		&cli.StringFlag{Name: "chdir", Usage: "it runs in `DIR` (where you are)"},
		&cli.StringFlag{Name: "export", Usage: "the environment it gets, `LIST`: all, none, NAME, NAME=VALUE, joined by commas (all where only you can read the database, else none)"},
		&cli.StringFlag{Name: "umask", Usage: "the bits of `MODE`, octal, are off in what it creates (yours)"},
		&cli.StringFlag{Name: "out", Usage: "its output goes to `FILE`; %j job, %A array, %a index, %x name, %u user, %N first node, %t attempt (placectl-%j.out)"},
		&cli.StringFlag{Name: "err", Usage: "its errors go to `FILE` (with the output)"},
		&cli.StringFlag{Name: "out-mode", Usage: "append to files that are there, or truncate them, as `MODE` says (truncate)"},
		&cli.StringFlag{Name: "compat", Usage: "`WHOSE` variables it is to find in its environment: pbs, slurm or none (those whose lines count)"},
		&cli.IntFlag{Name: "retries", Usage: "up to `N` further attempts follow one that has failed (0)"},
		&cli.StringFlag{Name: "retry-on", Usage: "after which ends, `LIST` of statuses, signal, walltime and oom: 1-5,75,oom (every status but 126 and 127, and every signal)"},
		&cli.StringFlag{Name: "retry-wait", Usage: "the first of them begins `D` later, each further one twice as long, an hour at most (30s)"},
		&cli.StringFlag{Name: "signal", Usage: "it is sent `SIG@SECONDS` before its end, such as USR1@120; B:USR1@120 only its first process"},
		&cli.StringFlag{Name: "grace", Usage: "it has `D` between being told to terminate and being killed (30s)"},
		&cli.StringFlag{Name: "mail", Usage: "the setting hook is asked to tell its owner of `LIST`: begin, end, fail, requeue (docs/hooks/mail sends mail)"},
		&cli.StringFlag{Name: "mail-to", Usage: "in the owner's place `ADDRESS` is, or several with commas between"},
	}
}

// onlyWithPayload are those that say nothing of a job that runs nothing.
var onlyWithPayload = []string{"chdir", "export", "umask", "out", "err", "out-mode", "compat", "retries", "retry-on", "retry-wait", "signal", "grace", "mail", "mail-to"}

// directed is the command line with what the directives of a script ask for. Where both
// say something the command line counts.
func (r *runner) directed(c *cli.Context, tx *store.Tx, s *script) (*cli.Context, error) {
	o, err := r.directiveOptions(c, tx)
	if err != nil {
		return nil, err
	}
	if s.Submission, err = directives.Read(infile.New(s.Name, []byte(s.Text)), o); err != nil {
		return nil, err
	}
	for _, n := range s.Notes {
		r.notef("%s", n)
	}
	s.counts, s.at = nil, nil
	for _, f := range s.Flags {
		flag := verbs.FindFlag(r.verb.Flags, f.Name)
		if flag == nil {
			return nil, &infile.Error{Position: f.At, Err: fmt.Errorf("it asks for %s, which is not supported yet", f.Word())}
		}
		g := verbs.Given{Flag: flag, Value: f.Value}
		if f.Switch {
			g.Value = "true"
		}
		if err := verbs.CheckValue(flag, g.Value); err != nil {
			return nil, &infile.Error{Position: f.At, Err: fmt.Errorf("--%s %w", f.Name, err)}
		}
		if !r.saysItself(c, f.Name) {
			s.counts, s.at = append(s.counts, g), append(s.at, f.At)
		}
	}
	inv := r.inv
	inv.Flags = slices.Concat(s.counts, r.inv.Flags)
	return inv.Context(r.ctx)
}

// inList finds what a resource list may say besides resources.
var inList = sync.OnceValue(func() map[string]*regexp.Regexp {
	return map[string]*regexp.Regexp{"walltime": regexp.MustCompile(`(^|,)\s*walltime\s*=`), "place": regexp.MustCompile(`(^|,)\s*place\s*=`)}
})

// saysItself reports whether the command line says what a flag of a directive does.
func (r *runner) saysItself(c *cli.Context, name string) bool {
	sel := c.String("select")
	if selects, _ := payload.Divide(r.plainArgs(c)); len(selects) > 0 {
		sel = selects[len(selects)-1]
	}
	if name == "select" && sel != "" || inList()[name] != nil && inList()[name].MatchString(sel) {
		return true
	}
	return slices.ContainsFunc(r.inv.Flags, func(g verbs.Given) bool { return g.Name() == name })
}

// plainArgs are the arguments in front of a command.
func (r *runner) plainArgs(c *cli.Context) []string {
	args := c.Args().Slice()
	if r.dash >= 0 {
		args = args[:r.dash]
	}
	return args
}

// directiveOptions are what the reader of directives is to know of submit and the database.
func (r *runner) directiveOptions(c *cli.Context, tx *store.Tx) (o directives.Options, err error) {
	host, err := os.Hostname()
	if err != nil {
		return o, err
	}
	defs, err := tx.Resources()
	if err != nil {
		return o, err
	}
	shares, err := tx.Shares()
	if err != nil {
		return o, err
	}
	o = directives.Options{Choose: c.String("directives"), Lax: c.Bool("lax"), Host: host, Now: r.now(), Zone: r.loc, MaxArray: store.MaxArray}
	o.Resource = func(name string) bool { _, ok := defs.Lookup(name); return ok }
	o.Class = func(name string) bool {
		return shares != nil && slices.ContainsFunc(shares.Loads, func(l fairshare.ClassLoad) bool { return l.Class == name })
	}
	if f := r.front; f != nil {
		o.Submits, o.Given, o.Choose = f.Family, f.Given, ""
		settings, err := tx.Settings()
		if err != nil {
			return o, err
		}
		o.Server = settings.Server
	}
	for _, f := range r.verb.Flags {
		_, list := f.(*cli.StringSliceFlag)
		o.Own = append(o.Own, directives.OwnFlag{Names: f.Names(), Switch: verbs.IsSwitch(f), List: list})
	}
	return o, nil
}

// blame says which directive an error comes of: the first with which there is one.
func (r *runner) blame(err error, selects []string, s *script) error {
	for i := range len(s.counts) + 1 {
		inv := r.inv
		inv.Flags = slices.Concat(s.counts[:i], r.inv.Flags)
		c, e := inv.Context(r.ctx)
		if e == nil {
			_, e = r.submission(c, selects, s)
		}
		switch {
		case e != nil && i == 0:
			return err // the command line is wrong by itself
		case e != nil:
			return &infile.Error{Position: s.at[i-1], Err: e}
		}
	}
	return err
}

// bindDirectory makes the directory part of what a key is bound to: the same command
// elsewhere is another request.
func (r *runner) bindDirectory(c *cli.Context) error {
	if r.carried != nil {
		r.inputs.Add(r.carried.Under(c.String("chdir")))
		return nil
	}
	dir, err := filepath.Abs(c.String("chdir"))
	r.inputs.Add(dir)
	return err
}
