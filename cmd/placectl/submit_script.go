package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/directives"
	"github.com/placectl/placectl/cmd/placectl/internal/infile"
	"github.com/placectl/placectl/cmd/placectl/internal/spell"
	"github.com/placectl/placectl/placer/fairshare"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

// script is a job script, and what its lines of directives ask for.
type script struct {
	name string // as messages show it
	text string
	directives.Submission
	counts []given           // the flags of directives that count,
	at     []infile.Position // and where they stand
}

// selectStart is how a select begins, or a resource list: with a number of chunks, or with
// a resource.
var selectStart = regexp.MustCompile(`^\s*([0-9]+\s*([:+,\s]|$)|[A-Za-z_][A-Za-z0-9_-]*\s*=|$)`)

// scriptOf parts the arguments of submit into selects and the script, and reads that; nil
// where there is none. What does not read as a select has to be a file.
func (r *runner) scriptOf(c *cli.Context, args []string) (selects []string, s *script, err error) {
	var files []string
	if c.IsSet("script") {
		files = append(files, c.String("script"))
	}
	for _, word := range args {
		if selectStart.MatchString(word) {
			selects = append(selects, word)
		} else {
			files = append(files, word)
		}
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
	text, err := io.ReadAll(io.LimitReader(in, store.MaxScript+1))
	s := &script{name: shownFile(name), text: string(text)}
	switch {
	case err != nil:
		return nil, usagef("%w", err)
	case len(text) > store.MaxScript:
		return nil, usagef("%s has more than %d bytes, and a script at most that many", s.name, store.MaxScript)
	case strings.TrimSpace(s.text) == "":
		return nil, usagef("%s is empty, and no script", s.name)
	case strings.IndexByte(s.text, 0) >= 0:
		return nil, usagef("%s has a NUL byte at offset %d: it is no script", s.name, strings.IndexByte(s.text, 0))
	}
	return s, nil
}

// directed is the command line with what the directives of a script ask for. Where both
// say something the command line counts.
func (r *runner) directed(c *cli.Context, tx *store.Tx, s *script) (*cli.Context, error) {
	o, err := r.directiveOptions(c, tx)
	if err != nil {
		return nil, err
	}
	if s.Submission, err = directives.Read(infile.New(s.name, []byte(s.text)), o); err != nil {
		return nil, err
	}
	for _, n := range s.Notes {
		r.notef("%s", n)
	}
	s.counts, s.at = nil, nil
	for _, f := range s.Flags {
		flag := findFlag(r.verb.Flags, f.Name)
		if flag == nil {
			return nil, &infile.Error{Position: f.At, Err: fmt.Errorf("it asks for %s, which is not supported yet", f.Word())}
		}
		g := given{flag, f.Value}
		if f.Switch {
			g.value = "true"
		}
		if err := checkValue(flag, g.value); err != nil {
			return nil, &infile.Error{Position: f.At, Err: fmt.Errorf("--%s %w", f.Name, err)}
		}
		if !r.saysItself(c, f.Name) {
			s.counts, s.at = append(s.counts, g), append(s.at, f.At)
		}
	}
	inv := r.inv
	inv.flags = slices.Concat(s.counts, r.inv.flags)
	return inv.context(r.ctx)
}

// inList finds what a resource list may say besides resources.
var inList = map[string]*regexp.Regexp{"walltime": regexp.MustCompile(`(^|,)\s*walltime\s*=`), "place": regexp.MustCompile(`(^|,)\s*place\s*=`)}

// saysItself reports whether the command line says what a flag of a directive does.
func (r *runner) saysItself(c *cli.Context, name string) bool {
	sel := c.String("select")
	for _, word := range r.plainArgs(c) {
		if selectStart.MatchString(word) {
			sel = word
		}
	}
	if name == "select" && sel != "" || inList[name] != nil && inList[name].MatchString(sel) {
		return true
	}
	return slices.ContainsFunc(r.inv.flags, func(g given) bool { return g.name() == name })
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
	for _, f := range r.verb.Flags {
		_, list := f.(*cli.StringSliceFlag)
		o.Own = append(o.Own, directives.OwnFlag{Names: f.Names(), Switch: isSwitch(f), List: list})
	}
	return o, nil
}

// blame says which directive an error comes of: the first with which there is one.
func (r *runner) blame(err error, selects []string, s *script) error {
	for i := range len(s.counts) + 1 {
		inv := r.inv
		inv.flags = slices.Concat(s.counts[:i], r.inv.flags)
		c, e := inv.context(r.ctx)
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
