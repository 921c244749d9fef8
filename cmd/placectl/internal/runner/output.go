package runner

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// output is a file that a stream of the command goes to.
type output struct {
	Path     string
	Append   bool   // else what is there is emptied
	Header   string // stands before what this attempt writes behind others'
	Fallback string // the file instead, where that one cannot be written
}

// redirect makes a file one of our streams. It returns the fallback where it took that.
func (o *output) redirect(fd int) (instead string, err error) {
	file, err := openOutput(o.Path, o.Append)
	if err != nil {
		why := err
		if file, err = openOutput(o.Fallback, true); err != nil {
			return "", fmt.Errorf("the output: %w; nor %s: %w", why, o.Fallback, err)
		}
		instead = o.Fallback
		unix.Write(file, []byte("placectl: "+o.Path+": "+why.Error()+"\n")) //nolint:errcheck // it is said elsewhere, too
	}
	if o.Header != "" && sizeOf(file) > 0 {
		unix.Write(file, []byte(o.Header)) //nolint:errcheck // the command may write all the same
	}
	defer unix.Close(file)
	return instead, unix.Dup2(file, fd)
}

// openOutput opens a file to write to. A symbolic link is not followed: somebody else may
// have put it into a directory that all can write to. A pipe has to have a reader, for
// nobody waits for one.
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

func sizeOf(fd int) int64 {
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil {
		return 0
	}
	return st.Size
}

// outputs are the files of an attempt's output and errors; the latter has no path where
// they go together. Both append from the second attempt on.
func (o *Order) outputs(fallback string) (out, err output) {
	pattern := o.Payload.Out
	if pattern == "" {
		pattern = "placectl-%j.out"
		if o.Array != nil {
			pattern = "placectl-%A_%a.out"
		}
	}
	header := ""
	if o.Number > 1 {
		header = fmt.Sprintf("placectl: job %d, attempt %d\n", o.Job, o.Number)
	}
	file := func(pattern, suffix string) output {
		return output{Path: o.expand(pattern), Append: o.Payload.Append || o.Number > 1, Header: header, Fallback: fallback + suffix}
	}
	out = file(pattern, ".out")
	if o.Payload.Err != "" {
		if err = file(o.Payload.Err, ".err"); err.Path == out.Path {
			err = output{}
		}
	}
	return out, err
}

// expand is the file that a pattern stands for, as store.CheckPattern describes it.
func (o *Order) expand(pattern string) string {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		if pattern[i] != '%' || i+1 == len(pattern) {
			b.WriteByte(pattern[i])
			continue
		}
		i++
		b.WriteString(o.letter(pattern[i]))
	}
	if path := b.String(); filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(o.Payload.Dir, b.String())
}

// letter is what a letter behind a % stands for. What people chose may not lead elsewhere.
func (o *Order) letter(c byte) string {
	plain := func(s string) string { return strings.ReplaceAll(s, "/", "_") }
	switch c {
	case 'j':
		return strconv.FormatUint(o.Job, 10)
	case 'A':
		if o.Array != nil {
			return strconv.FormatUint(o.Array.First, 10)
		}
		return strconv.FormatUint(o.Job, 10)
	case 'a':
		if o.Array != nil {
			return strconv.Itoa(o.Array.Index)
		}
		return "0"
	case 'x':
		return plain(o.Name)
	case 'u':
		return plain(o.User)
	case 'N':
		if len(o.Nodes) > 0 {
			return plain(o.Nodes[0])
		}
		return ""
	case 't':
		return strconv.Itoa(o.Number)
	}
	return "%"
}
