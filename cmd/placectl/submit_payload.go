package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/spell"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
	"golang.org/x/sys/unix"
)

// payloadFlags are the flags that say in what surroundings a job is to run.
func payloadFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "script", Usage: "what is run, `FILE`, - for standard input; its #placectl, #PBS and #SBATCH lines count"},
		&cli.StringFlag{Name: "directives", Usage: "`WHOSE` lines of the script count besides #placectl: pbs, slurm or none (those that it has)"},
		&cli.BoolFlag{Name: "lax", Usage: "options of #PBS and #SBATCH lines that nobody knows are left out and said, not refused"},
		&cli.StringFlag{Name: "chdir", Usage: "it runs in `DIR` (where you are)"},
		&cli.StringFlag{Name: "export", Usage: "the environment it gets, `LIST`: all, none, NAME, NAME=VALUE, joined by commas (all where only you can read the database, else none)"},
		&cli.StringFlag{Name: "umask", Usage: "the bits of `MODE`, octal, are off in what it creates (yours)"},
		&cli.StringFlag{Name: "out", Usage: "its output goes to `FILE`; %j job, %A array, %a index, %x name, %u user, %N first node, %t attempt (placectl-%j.out)"},
		&cli.StringFlag{Name: "err", Usage: "its errors go to `FILE` (with the output)"},
		&cli.StringFlag{Name: "out-mode", Usage: "append to files that are there, or truncate them, as `MODE` says (truncate)"},
		&cli.StringFlag{Name: "compat", Usage: "`WHOSE` variables it is to find in its environment: pbs, slurm or none (those whose lines count)"},
	}
}

// onlyWithPayload are those that say nothing of a job that runs nothing.
var onlyWithPayload = []string{"chdir", "export", "umask", "out", "err", "out-mode", "compat"}

// payload is what a job is to carry: the script, and the surroundings of this process.
func (r *runner) payload(c *cli.Context, s *script) (p *store.Payload, err error) {
	p = &store.Payload{Limits: resourceLimits()}
	if p.Dir, err = directory(c.String("chdir")); err != nil {
		return nil, err
	}
	if p.Umask, err = umask(c); err != nil {
		return nil, err
	}
	if p.Env, err = r.exported(c); err != nil {
		return nil, err
	}
	if p.Out, err = pattern(c, "out", p.Dir); err != nil {
		return nil, err
	}
	if p.Err, err = pattern(c, "err", p.Dir); err != nil {
		return nil, err
	}
	if c.IsSet("out-mode") {
		mode, err := oneOf(c, "out-mode", "append", "truncate")
		if err != nil {
			return nil, err
		}
		p.Append = mode == "append"
	}
	if s != nil {
		p.Script, p.Interpreter, p.Variables, p.Compat = s.text, s.Interpreter, s.Variables, string(s.Family)
		if p.Out == "" {
			p.Out = s.Family.DefaultOut(c.IsSet("array"))
		}
	}
	if c.IsSet("compat") {
		if p.Compat, err = oneOf(c, "compat", "pbs", "slurm", "none"); err != nil {
			return nil, err
		}
		p.Compat = strings.TrimPrefix(p.Compat, "none")
	}
	return p, nil
}

// directory is where the job is to run, as an absolute path; it has to be there.
func directory(chdir string) (string, error) {
	dir, err := filepath.Abs(chdir)
	if err != nil {
		return "", err
	}
	return dir, isDirectory(chdir, dir)
}

func isDirectory(said, dir string) error {
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return usagef("%w", err)
	case !info.IsDir():
		return usagef("%s is no directory", spell.Quoted(said))
	}
	return nil
}

// pattern reads a flag that names an output file. The directory has to be there, as far as
// it is known now.
func pattern(c *cli.Context, flag, dir string) (string, error) {
	p := c.String(flag)
	switch err := store.CheckPattern(p); {
	case err != nil:
		return "", usagef("--%s: %w", flag, err)
	case p == "" && c.IsSet(flag):
		return "", usagef("--%s is empty: name a file", flag)
	case p == "" || strings.HasSuffix(p, "/"):
		if p != "" {
			return "", usagef("--%s %s is a directory: name a file in it", flag, spell.Quoted(p))
		}
		return "", nil
	}
	in := filepath.Dir(p)
	if !filepath.IsAbs(in) {
		in = filepath.Join(dir, in)
	}
	for strings.Contains(strings.ReplaceAll(in, "%%", ""), "%") { // of each job another
		in = filepath.Dir(in)
	}
	in = strings.ReplaceAll(in, "%%", "%")
	if err := isDirectory(in, in); err != nil {
		return "", fmt.Errorf("--%s: %w", flag, err)
	}
	return p, nil
}

// umask is that of the flag, or of this process.
func umask(c *cli.Context) (uint32, error) {
	if !c.IsSet("umask") {
		mask := unix.Umask(0) // there is no other way to read it
		unix.Umask(mask)
		return uint32(mask), nil
	}
	n, err := strconv.ParseUint(c.String("umask"), 8, 32)
	if err != nil || n > 0o777 {
		return 0, usagef("--umask wants an octal number up to 777, not %s", spell.Quoted(c.String("umask")))
	}
	return uint32(n), nil
}

// bindDirectory makes the directory part of what a key is bound to: the same command
// elsewhere is another request.
func (r *runner) bindDirectory(c *cli.Context) error {
	dir, err := filepath.Abs(c.String("chdir"))
	r.inputs.Add(dir)
	return err
}
