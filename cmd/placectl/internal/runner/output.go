package runner

import (
	"cmp"
	"fmt"
	"os"

	"github.com/placectl/placectl/cmd/placectl/internal/outname"
	"golang.org/x/sys/unix"
)

// output is a file for an output stream of the command.
type output struct {
	Path     string
	Append   bool   // otherwise the file is emptied first
	Header   string // written before this attempt's output in a file with earlier output
	Fallback string // the file to use if this one cannot be written
}

// open opens the file for writing. It returns the path of the fallback if it took that.
func (o *output) open() (file int, instead string, err error) {
	file, err = openOutput(o.Path, o.Append)
	if err != nil {
		why := err
		if file, err = openOutput(o.Fallback, true); err != nil {
			return -1, "", fmt.Errorf("cannot write the output: %w; nor to %s in its place: %w", why, o.Fallback, err)
		}
		instead = o.Fallback
		unix.Write(file, []byte("placectl: "+o.Path+": "+why.Error()+"\n")) //nolint:errcheck // it is reported elsewhere, too
	}
	if o.Header != "" && sizeOf(file) > 0 {
		unix.Write(file, []byte(o.Header)) //nolint:errcheck // the command may still be able to write
	}
	return file, instead, nil
}

// openOutput opens a file for writing. It does not follow a symbolic link, which another user may have
// put into a directory writable by all. A pipe must already have a reader, because openOutput does not
// wait for one.
func openOutput(path string, appending bool) (int, error) {
	flags := unix.O_WRONLY | unix.O_CREAT | unix.O_NOFOLLOW | unix.O_NOCTTY | unix.O_NONBLOCK | unix.O_CLOEXEC
	if appending {
		flags |= unix.O_APPEND
	} else {
		flags |= unix.O_TRUNC
	}
	fd, err := unix.Open(path, flags, 0o666)
	if err != nil {
		return -1, fmt.Errorf("%s: %w", path, err)
	}
	if err := unix.SetNonblock(fd, false); err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
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
func (o *Order) outputs(fallback string) (out, err output) {
	job := o.letters()
	header := ""
	if o.Number > 1 {
		header = fmt.Sprintf("placectl: job %d, attempt %d\n", o.Job, o.Number)
	}
	file := func(pattern, suffix string) output {
		return output{Path: job.Path(o.Payload.Dir, pattern), Append: o.Payload.Append || o.Number > 1, Header: header, Fallback: fallback + suffix}
	}
	out = file(cmp.Or(o.Payload.Out, job.Default()), ".out")
	if o.Payload.Err != "" {
		if err = file(o.Payload.Err, ".err"); err.Path == out.Path {
			err = output{}
		}
	}
	return out, err
}

// letters returns the values of the letters in the files' patterns.
func (o *Order) letters() *outname.Job {
	j := &outname.Job{ID: o.Job, Name: o.Name, User: o.User, Attempt: o.Number}
	if o.Array != nil {
		j.Array, j.Index = o.Array.First, o.Array.Index
	}
	j.Node = func() string {
		if len(o.Nodes) == 0 {
			return ""
		}
		return o.Nodes[0]
	}
	return j
}
