package main

import (
	"path/filepath"
	"strconv"
	"strings"

	"github.com/placectl/placectl/store"
)

// outputFile is where the output of a job goes, "" where it runs nothing.
func (j *jobView) outputFile() string {
	p := j.payload()
	switch {
	case p.Dir == "":
		return ""
	case p.Out != "":
		return j.expanded(p.Out)
	case j.Array != 0:
		return j.expanded("placectl-%A_%a.out")
	}
	return j.expanded("placectl-%j.out")
}

// errorFile is where its errors go, "" for where the output does.
func (j *jobView) errorFile() string {
	if j.payload().Err == "" {
		return ""
	}
	return j.expanded(j.payload().Err)
}

// expanded is the file that a pattern stands for, as far as that is known: %t and, before
// the job has nodes, %N stay as they are.
func (j *jobView) expanded(pattern string) string {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		if pattern[i] != '%' || i+1 == len(pattern) {
			b.WriteByte(pattern[i])
			continue
		}
		i++
		b.WriteString(j.letter(pattern[i]))
	}
	return absolute(j.payload().Dir, b.String())
}

// letter is what a letter behind a % stands for.
func (j *jobView) letter(c byte) string {
	switch c {
	case 'j':
		return jobID(j.Job)
	case 'A':
		if j.Array != 0 {
			return strconv.FormatUint(j.Array, 10)
		}
		return jobID(j.Job)
	case 'a':
		return strconv.Itoa(j.Index)
	case 'x':
		return j.Name
	case 'u':
		return j.User
	case 'N':
		if nodes := readJob(j, func(job *store.Job) ([]string, error) { return j.tx.NodeNames(job.NodeNumbers()) }); len(nodes) > 0 {
			return nodes[0]
		}
	case '%':
		return "%"
	}
	return "%" + string(c)
}

func absolute(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}
