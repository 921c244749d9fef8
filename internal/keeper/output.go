package keeper

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/placectl/placectl/internal/joblog"
	"github.com/placectl/placectl/internal/outname"
	"golang.org/x/sys/unix"
)

// output is a file for an output stream of the command.
type output struct {
	Path   string
	Append bool   // otherwise the file is emptied first
	Header string // written before this attempt's output in a file with earlier output
}

// open opens the file for writing.
func (o *output) open() (int, error) {
	file, err := openOutput(o.Path, o.Append)
	if err != nil {
		return -1, fmt.Errorf("cannot write the output: %w", err)
	}
	if o.Header != "" && sizeOf(file) > 0 {
		unix.Write(file, []byte(o.Header)) //nolint:errcheck // the command may still be able to write
	}
	return file, nil
}

// openOutput opens a file for writing. A pipe must already have a reader, because openOutput does not
// wait for one.
func openOutput(path string, appending bool) (int, error) {
	path, err := followed(path)
	if err != nil {
		return -1, err
	}
	flags := unix.O_WRONLY | unix.O_CREAT | unix.O_NOFOLLOW | unix.O_NOCTTY | unix.O_NONBLOCK | unix.O_CLOEXEC
	if appending {
		flags |= unix.O_APPEND
	} else {
		flags |= unix.O_TRUNC
	}
	fd, err := unix.Open(path, flags, 0o666)
	if err != nil {
		return -1, &os.PathError{Op: "open", Path: path, Err: err}
	}
	if err := unix.SetNonblock(fd, false); err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// maxLinks is how many symbolic links a path may lead through, as in Linux.
const maxLinks = 40

// followed returns where a path leads whose last part is a symbolic link, as a shell follows it. A link that
// leads out of a folder in which others may write is an error, because it may be theirs.
func followed(path string) (string, error) {
	for range maxLinks {
		target, err := os.Readlink(path)
		if err != nil {
			return path, nil // it is no link, or what opens it says why not
		}
		dir, err := filepath.EvalSymlinks(filepath.Dir(path))
		if err != nil {
			return "", err
		}
		info, err := os.Stat(dir)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(dir, target)
		}
		if info.Mode().Perm()&0o022 != 0 {
			to, err := filepath.EvalSymlinks(filepath.Dir(target))
			if err != nil {
				return "", err
			}
			if to != dir && !strings.HasPrefix(to, dir+"/") {
				return "", fmt.Errorf("%s is a symbolic link to %s, out of a folder that others may write", path,
					target)
			}
		}
		path = target
	}
	return "", &os.PathError{Op: "open", Path: path, Err: unix.ELOOP}
}

// openInput opens a file for reading, an empty one for "". A pipe without a writer is at its end.
func openInput(path string) (int, error) {
	path = cmp.Or(path, os.DevNull)
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("the input: %s: %w", path, err)
	}
	if err := unix.SetNonblock(fd, false); err != nil {
		unix.Close(fd) //nolint:errcheck // nothing was read
		return -1, err
	}
	return fd, nil
}

func sizeOf(fd int) int64 {
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil {
		return 0
	}
	return st.Size
}

// outputs returns the files for an attempt's output and errors. err has no path if both go to the same
// file. Both append from the second attempt on.
func (o *Order) outputs() (out, err output) {
	job := o.letters()
	header := ""
	if o.Number > 1 {
		header = joblog.Header(o.Job, o.Number)
	}
	file := func(pattern string) output {
		return output{Path: job.Path(o.Payload.Dir, pattern), Append: o.Payload.Append || o.Number > 1, Header: header}
	}
	out = file(cmp.Or(o.Payload.Out, job.Default()))
	if o.Payload.Err != "" {
		if err = file(o.Payload.Err); err.Path == out.Path {
			err = output{}
		}
	}
	return out, err
}

// letters returns the values of the letters in the files' patterns.
func (o *Order) letters() *outname.Job {
	j := &outname.Job{ID: o.Job, Name: o.Name, User: o.User, Attempt: o.Number}
	if o.Array != nil {
		j.Array, j.Index = o.Array.Number, o.Array.Index
	}
	j.Node = func() string {
		if len(o.Nodes) == 0 {
			return ""
		}
		return o.Nodes[0]
	}
	return j
}
