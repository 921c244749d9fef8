// Package payload holds what a job carries besides its request: the script that it runs, and the
// environment of the submitting process, from its variables to its resource limits. It reads them as
// the flags of submit say, and knows where the output of a job goes.
package payload

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/directives"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/environ"
	"github.com/placectl/placectl/internal/text"
)

// Flags are the flags of a command line.
type Flags interface {
	IsSet(name string) bool
	String(name string) string
	Int(name string) int
}

// Process is the submitting process.
type Process struct {
	Me           engine.Submitter // the real user, whatever --user says
	Environ      func() []string  // NAME=VALUE
	Database     string           // its file: users who can read it can read what jobs carry
	Note, Detail func(format string, args ...any)
	Carried      *Carried // the environment that another process has sent; nil: our own
	// as for qsub and sbatch: every variable is carried, and an output directory is checked when the job begins
	Original bool
	Export   string // the default of --export: none, or "" for one that depends on who can read the database
}

// Read reads what a job carries, as the flags say: the script, nil for none, and the environment of the
// process.
func (from Process) Read(c Flags, s *Script) (p *engine.Payload, err error) {
	p = new(engine.Payload)
	if along := from.Carried; along != nil {
		p.Limits, p.Dir, p.Umask = along.Limits, along.Under(""), along.Umask
	} else {
		p.Limits, p.Umask = environ.Limits(), environ.Umask()
	}
	if from.Carried == nil && !c.IsSet("chdir") {
		if p.Dir, err = Directory(""); err != nil {
			return nil, err
		}
	}
	if !c.IsSet("export") {
		if p.Env, err = from.exported(c); err != nil {
			return nil, err
		}
	}
	me := from.Me
	if p.Owner = &me; from.Carried != nil {
		p.Owner.Host = from.Carried.Host
	}
	if s != nil {
		p.Script, p.Interpreter, p.Variables, p.Compat = s.Text, s.Interpreter, s.Variables, string(s.Family)
		p.Out = s.Family.DefaultOut(c.IsSet("array"))
	}
	return p, from.Change(c, p)
}

// Change changes a payload as the flags say, and leaves the rest of it as it is.
func (from Process) Change(c Flags, p *engine.Payload) (err error) {
	if c.IsSet("chdir") {
		if from.Carried != nil {
			p.Dir = from.Carried.Under(c.String("chdir"))
		} else if p.Dir, err = Directory(c.String("chdir")); err != nil {
			return err
		}
	}
	if c.IsSet("umask") {
		n, err := strconv.ParseUint(c.String("umask"), 8, 32)
		if err != nil || n > 0o777 {
			return usage.Errorf("--umask must be an octal number up to 777, not %s", text.Quoted(c.String("umask")))
		}
		p.Umask = uint32(n)
	}
	if c.IsSet("export") {
		if p.Env, err = from.exported(c); err != nil {
			return err
		}
	}
	if c.IsSet("out") {
		if p.Out, err = from.pattern(c, "out", p.Dir); err != nil {
			return err
		}
	}
	if c.IsSet("err") {
		if p.Err, err = from.pattern(c, "err", p.Dir); err != nil {
			return err
		}
	}
	if c.IsSet("input") {
		if p.Input, err = from.pattern(c, "input", p.Dir); err != nil {
			return err
		}
	}
	if err := ending(c, &p.Ending); err != nil {
		return err
	}
	if c.IsSet("out-mode") {
		if err := oneOf(c, "out-mode", OutModes); err != nil {
			return err
		}
		p.Append = c.String("out-mode") == "append"
	}
	if c.IsSet("compat") {
		if err := oneOf(c, "compat", directives.FamilyWords); err != nil {
			return err
		}
		p.Compat = strings.TrimPrefix(c.String("compat"), "none")
	}
	return nil
}

// Directory returns the absolute path of the directory in which the job will run. It must exist.
func Directory(chdir string) (string, error) {
	dir, err := filepath.Abs(chdir)
	if err != nil {
		return "", err
	}
	return dir, isDirectory(chdir, dir)
}

func isDirectory(said, dir string) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return usage.Errorf("there is no directory %s", text.Quoted(said))
	case err != nil:
		return usage.Errorf("%w", err)
	case !info.IsDir():
		return usage.Errorf("%s is no directory", text.Quoted(said))
	}
	return nil
}

// pattern reads a flag that names an output file. Its directory must exist, as far as it is known now.
func (from Process) pattern(c Flags, flag, dir string) (string, error) {
	p := c.String(flag)
	switch err := engine.CheckPattern(p); {
	case err != nil:
		return "", usage.Errorf("--%s: %w", flag, err)
	case p == "" && c.IsSet(flag):
		return "", usage.Errorf("--%s is empty: name a file", flag)
	case p == "" || strings.HasSuffix(p, "/"):
		if p != "" {
			return "", usage.Errorf("--%s %s is a directory: name a file in it", flag, text.Quoted(p))
		}
		return "", nil
	}
	if from.Carried != nil || from.Original {
		return p, nil
	}
	in := filepath.Dir(p)
	if !filepath.IsAbs(in) {
		in = filepath.Join(dir, in)
	}
	for strings.Contains(strings.ReplaceAll(in, "%%", ""), "%") { // it differs between jobs
		in = filepath.Dir(in)
	}
	in = strings.ReplaceAll(in, "%%", "%")
	if err := isDirectory(in, in); err != nil {
		return "", fmt.Errorf("--%s: %w", flag, err)
	}
	return p, nil
}

// OutModes are the values of --out-mode.
var OutModes = []string{"append", "truncate"}

// oneOf checks a flag whose value is one of a few words.
func oneOf(c Flags, flag string, words []string) error {
	if !slices.Contains(words, c.String(flag)) {
		return usage.Errorf("--%s: %w", flag, text.NotOneOf(c.String(flag), words))
	}
	return nil
}
