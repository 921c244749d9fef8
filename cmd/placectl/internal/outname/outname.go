// Package outname makes the names of the files that a job writes from patterns such as run-%j.out, which
// store.CheckPattern describes. It does no I/O.
package outname

import (
	"path/filepath"
	"strconv"
	"strings"
)

// Job holds the values of the letters in a pattern.
type Job struct {
	ID      uint64
	Array   uint64 // 0: in no array
	Index   int
	Name    string
	User    string
	Attempt int           // 0: no particular one, so %t stays
	Node    func() string // returns its first node, "" before it has one: then %N stays
}

// Default returns where the output of a job goes if the submitter has not said so.
func (j *Job) Default() string {
	if j.Array != 0 {
		return "placectl-%A_%a.out"
	}
	return "placectl-%j.out"
}

// Path returns the file for a pattern, below dir unless the pattern is absolute.
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

// letter returns the value of the letter behind a %.
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

// plain makes a user-chosen name safe as part of a path, so that it cannot lead elsewhere.
func plain(name string) string { return strings.ReplaceAll(name, "/", "_") }
