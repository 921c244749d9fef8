package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

// writeGanttSVG draws into the file that --svg names.
func (r *runner) writeGanttSVG(c *cli.Context, g *ganttData, w ganttWindow, o *ganttOptions) error {
	picture := r.ganttSVG(g, w, o)
	if o.svg == "-" {
		if _, err := r.stdout.Write(picture); err != nil {
			return fmt.Errorf("the answer could not be written: %w", err)
		}
		return nil
	}
	if err := r.notDatabase(o.svg); err != nil {
		return usagef(verbName(c), "%w", err)
	}
	return replaceFile(o.svg, picture)
}

// notDatabase refuses to write over a database: ours, its lock, or any other.
func (r *runner) notDatabase(path string) error {
	there, err := os.Stat(path)
	if err != nil {
		return nil
	}
	for _, ours := range []string{r.DB, r.DB + ".lock"} {
		if info, err := os.Stat(ours); err == nil && os.SameFile(info, there) {
			return fmt.Errorf("--svg %s would write over the database", quoted(path))
		}
	}
	if there.Mode().IsRegular() {
		if _, err := store.Open(path, nil); err == nil {
			return fmt.Errorf("--svg %s would write over a database", quoted(path))
		}
	}
	return nil
}

// replaceFile puts data into a file, whole or not at all: it is written beside
// the name and then renamed. A link keeps pointing to where it does, a file
// keeps its mode, and what is no file (a pipe, /dev/stdout) is written to.
func replaceFile(path string, data []byte) (err error) {
	mode := fs.FileMode(0o644)
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	switch info, err := os.Stat(path); {
	case err == nil && info.Mode().IsRegular():
		mode = info.Mode().Perm()
	case err == nil:
		return os.WriteFile(path, data, mode)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".new-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(tmp.Name())
		}
	}()
	_, err = tmp.Write(data)
	if err = errors.Join(err, tmp.Chmod(mode), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
