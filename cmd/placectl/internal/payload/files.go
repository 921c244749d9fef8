package payload

import (
	"path/filepath"
	"strconv"
	"strings"

	"github.com/placectl/placectl/store"
)

// Files are the names of the files that a job writes, as far as they are known: before it
// has nodes %N stays as it is, and %t before it is at an attempt.
type Files struct {
	Job     *store.Job
	Of      *store.Payload
	Attempt int           // 0: not any one
	Node    func() string // the first node of the job, "" before it has one
}

// Out is where the output of the job goes, "" where it runs nothing.
func (f Files) Out() string {
	switch {
	case f.Of.Dir == "":
		return ""
	case f.Of.Out != "":
		return f.expanded(f.Of.Out)
	case f.Job.Array != 0:
		return f.expanded("placectl-%A_%a.out")
	}
	return f.expanded("placectl-%j.out")
}

// Err is where its errors go, "" for where the output does.
func (f Files) Err() string {
	if f.Of.Err == "" {
		return ""
	}
	return f.expanded(f.Of.Err)
}

// expanded is the file that a pattern stands for.
func (f Files) expanded(pattern string) string {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		if pattern[i] != '%' || i+1 == len(pattern) {
			b.WriteByte(pattern[i])
			continue
		}
		i++
		b.WriteString(f.letter(pattern[i]))
	}
	return absolute(f.Of.Dir, b.String())
}

// letter is what a letter behind a % stands for.
func (f Files) letter(c byte) string {
	switch c {
	case 'j':
		return number(f.Job.ID)
	case 'A':
		if f.Job.Array != 0 {
			return number(f.Job.Array)
		}
		return number(f.Job.ID)
	case 'a':
		return strconv.Itoa(f.Job.Index)
	case 'x':
		return plain(f.Job.Name)
	case 'u':
		return plain(f.Job.User)
	case 'N':
		if node := f.Node(); node != "" {
			return plain(node)
		}
	case 't':
		if f.Attempt > 0 {
			return strconv.Itoa(f.Attempt)
		}
	case '%':
		return "%"
	}
	return "%" + string(c)
}

// plain is a name that people chose as part of a path: it leads nowhere else.
func plain(name string) string { return strings.ReplaceAll(name, "/", "_") }

func number(id uint64) string { return strconv.FormatUint(id, 10) }

func absolute(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}
