// Package outname makes the names of the files that a job writes of patterns such as
// run-%j.out, which store.CheckPattern describes. Pure.
package outname

import (
	"path/filepath"
	"strconv"
	"strings"
)

// Job is what the letters of a pattern stand for.
type Job struct {
	ID      uint64
	Array   uint64 // 0: it is of none
	Index   int
	Name    string
	User    string
	Attempt int           // 0: not any one, and %t stays as it is
	Node    func() string // its first node; "" before it has one, and %N stays as it is
}

// Default is where the output of a job goes whose submitter has not said it.
func (j *Job) Default() string {
	if j.Array != 0 {
		return "placectl-%A_%a.out"
	}
	return "placectl-%j.out"
}

// Path is the file that a pattern stands for, below a directory unless it is absolute.
func (j *Job) Path(dir, pattern string) string {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		if pattern[i] != '%' || i+1 == len(pattern) {
			b.WriteByte(pattern[i])
			continue
		}
		i++
		width := 0
		for i+1 < len(pattern) && pattern[i] >= '0' && pattern[i] <= '9' {
			width = min(10*width+int(pattern[i]-'0'), 99)
			i++
		}
		text := j.letter(pattern[i])
		b.WriteString(strings.Repeat("0", max(width-len(text), 0)) + text)
	}
	if path := b.String(); filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, b.String())
}

// letter is what a letter behind a % stands for.
func (j *Job) letter(c byte) string {
	switch c {
	case 'j':
		return strconv.FormatUint(j.ID, 10)
	case 'A':
		if j.Array != 0 {
			return strconv.FormatUint(j.Array, 10)
		}
		return strconv.FormatUint(j.ID, 10)
	case 'a':
		return strconv.Itoa(j.Index)
	case 'x':
		return plain(j.Name)
	case 'u':
		return plain(j.User)
	case 'N':
		if node := j.Node(); node != "" {
			return plain(node)
		}
	case 't':
		if j.Attempt > 0 {
			return strconv.Itoa(j.Attempt)
		}
	case '%':
		return "%"
	}
	return "%" + string(c)
}

// plain is a name that people chose as part of a path: it leads nowhere else.
func plain(name string) string { return strings.ReplaceAll(name, "/", "_") }
