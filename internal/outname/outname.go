// Package outname makes the names of the files that a job writes from patterns such as run-%j.out, which
// engine.CheckPattern describes. It does no I/O.
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
	path, _ := Replace(pattern, func(width string, letter byte) (string, error) {
		if letter == 0 {
			return "%" + width, nil
		}
		return Padded(j.letter(letter), width, 99), nil
	})
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// Replace replaces each % of a pattern with its width, "" for none, and the letter behind it. A % at the
// end has the letter 0.
func Replace(pattern string, value func(width string, letter byte) (string, error)) (string, error) {
	var b strings.Builder
	for {
		text, rest, more := strings.Cut(pattern, "%")
		b.WriteString(text)
		if !more {
			return b.String(), nil
		}
		pattern = strings.TrimLeft(rest, "0123456789")
		width, letter := rest[:len(rest)-len(pattern)], byte(0)
		if pattern != "" {
			letter, pattern = pattern[0], pattern[1:]
		}
		text, err := value(width, letter)
		if err != nil {
			return "", err
		}
		b.WriteString(text)
	}
}

// Padded puts zeros before a number up to a width of at most most.
func Padded(number, width string, most int) string {
	n := 0
	for _, c := range width {
		n = min(10*n+int(c-'0'), most)
	}
	return strings.Repeat("0", max(n-len(number), 0)) + number
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
