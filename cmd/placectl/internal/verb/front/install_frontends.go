package front

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
	"github.com/urfave/cli/v2"
)

// InstallFrontends declares the verb installfrontends.
func InstallFrontends() *session.Verb {
	return &session.Verb{
		Name:     "install-frontends",
		Category: "Store",
		Usage:    "install links named qsub, sbatch and so on",
		May:      engine.Anybody,
		Args:     []verbs.Arg{{Name: "pbs|slurm", Kind: verbs.KindWord}, {Name: "DIR", Kind: verbs.KindFile}},
		Description: "Makes DIR if it is missing, and replaces existing links of placectl. If another file has such " +
			"a name, nothing is\n" +
			"done unless you give --force. Notes say whether DIR comes first in PATH, and which database is used.",
		Flags: []cli.Flag{&cli.BoolFlag{Name: "force", Usage: "replace files of other programs"},
			verbs.DryRunFlag()},
		Statuses: map[int]string{exit.Conflict: "another program is there"},
		Example:  "placectl install-frontends slurm .",
		Run:      installFrontends,
	}
}

func installFrontends(r *session.Run, c *cli.Context) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	dir, err := filepath.Abs(c.Args().Get(1))
	if err != nil {
		return err
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return usage.Errorf("%s is no directory", text.Quoted(c.Args().Get(1)))
	}
	var commands []string
	for _, f := range FrontEnds() {
		if verbOf(f) == c.Args().First() {
			commands = f.Names()
		}
	}
	for _, name := range commands {
		path := filepath.Join(dir, name)
		if !c.Bool("force") && !oursOrNone(path, program) {
			return fmt.Errorf("%w: %s exists and is not a link of ours: --force replaces it", engine.ErrExists, path)
		}
	}
	if !r.Dry {
		if err := link(program, dir, commands); err != nil {
			return err
		}
	}
	fmt.Fprintf(r.Out(), "%s in %s\n", text.List(commands, "and"), text.Printable(dir))
	sayPath(r, dir, commands[0])
	if err := frontDatabase(r); err != nil {
		r.Notef("%v", err)
	} else {
		r.Notef("the database is %s", r.DB)
	}
	return nil
}

// oursOrNone reports whether nothing exists at a path, or a link to this program.
func oursOrNone(path, program string) bool {
	to, err := os.Readlink(path)
	if err != nil {
		_, err = os.Lstat(path)
		return errors.Is(err, fs.ErrNotExist)
	}
	return to == program || filepath.Base(to) == "placectl"
}

// link makes dir, with a link to the program for each command.
func link(program, dir string, commands []string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range commands {
		if err := relink(program, filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// relink replaces what is at path with a link, without a moment when nothing is there.
func relink(program, path string) error {
	next := path + ".new"
	if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Symlink(program, next); err != nil {
		return err
	}
	return os.Rename(next, path)
}

// sayPath warns if a name runs a program other than the link in dir.
func sayPath(r *session.Run, dir, name string) {
	for _, in := range filepath.SplitList(r.Getenv("PATH")) {
		if abs, err := filepath.Abs(in); err == nil && abs == dir {
			r.Notef("%s is the first in PATH that has %s", dir, name)
			return
		}
		if _, err := os.Stat(filepath.Join(in, name)); err == nil {
			r.Notef("%s comes first in PATH: put %s in front of it", filepath.Join(in, name), dir)
			return
		}
	}
	r.Notef("%s is not in PATH: export PATH=%s:$PATH", dir, text.ShellWord(dir))
}
