// Package batchfile reads the two lists of a batch: its files in order, and its jobs, each of which uses
// consecutive files. It opens no file and knows no verb.
package batchfile

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/placectl/placectl/cmd/placectl/internal/infile"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/locality"
)

// Lists holds what has been read of the two lists. The files come first.
type Lists struct {
	Files []File
	Jobs  []locality.Job

	quorum  int            // for jobs without their own
	numbers map[string]int // of files, by name
	lines   []int32        // of jobs
	name    string         // of the list of jobs
	start   int            // the first file of the last job
}

// File is a file of a batch.
type File struct {
	Name string
	Size int64 // bytes
}

// New makes empty lists. Jobs without a quorum of their own get quorum.
func New(quorum int) *Lists { return &Lists{quorum: quorum, numbers: make(map[string]int)} }

// ReadFiles reads the list of files. name is for messages. progress is called with the number of bytes
// read since.
func (in *Lists) ReadFiles(from io.Reader, name string, progress func(int64)) error {
	err := infile.Records(from, name, []string{"name", "size"}, progress, in.file)
	if err == nil && len(in.Files) == 0 {
		err = fmt.Errorf("%w: %s lists no files", usage.Err, name)
	}
	return err
}

// ReadJobs reads the list of jobs in the same way.
func (in *Lists) ReadJobs(from io.Reader, name string, progress func(int64)) error {
	in.name = name
	err := infile.Records(from, name, []string{"first", "last", "files", "credit", "quorum"}, progress, in.job)
	if err == nil && len(in.Jobs) == 0 {
		err = fmt.Errorf("%w: %s lists no jobs", usage.Err, name)
	}
	return err
}

// At returns the position of a job in its list, given its index in Jobs.
func (in *Lists) At(job int) infile.Position {
	return infile.Position{File: in.name, Line: int(in.lines[job]), Col: 1}
}

// file adds a line of the list of files.
func (in *Lists) file(_ int, cells []string) error {
	f := File{Name: cells[0]}
	if err := checkFileName(f.Name); err != nil {
		return err
	}
	if other, ok := in.numbers[f.Name]; ok {
		return fmt.Errorf("the file %s is already in the list, as number %d", text.Quoted(f.Name), other)
	}
	if cells[1] != "" {
		n, err := strconv.ParseInt(cells[1], 10, 64)
		if err != nil || n < 0 {
			return fmt.Errorf("size: %s is not a whole number of bytes", text.Quoted(cells[1]))
		}
		f.Size = n
	}
	in.numbers[f.Name] = len(in.Files)
	in.Files = append(in.Files, f)
	return nil
}

// checkFileName refuses names that a shell loop could not read back.
func checkFileName(s string) error {
	const most = 1024
	switch {
	case s == "":
		return errors.New("name: it is missing")
	case len(s) > most:
		return fmt.Errorf("name: %d bytes; at most %d", len(s), most)
	case strings.ContainsFunc(s, func(c rune) bool { return unicode.IsSpace(c) || unicode.IsControl(c) || c == '|' }):
		return fmt.Errorf("name: %s has a blank, a control character or a | in it", text.Quoted(s))
	}
	return nil
}

// job adds a line of the list of jobs.
func (in *Lists) job(line int, cells []string) error {
	j := locality.Job{Credit: locality.Micro, Quorum: in.quorum}
	var err error
	if cells[2] != "" {
		if cells[0] != "" || cells[1] != "" {
			return errors.New("give either files, or first and last")
		}
		j.A, j.B, err = in.row(strings.Split(cells[2], "|"))
	} else {
		j.A, j.B, err = in.ends(cells[0], cells[1])
	}
	if err != nil {
		return err
	}
	if cells[3] != "" {
		credit, err := strconv.ParseFloat(cells[3], 64)
		if err != nil || !(credit*locality.Micro >= 1 && credit*locality.Micro <= locality.MaxCredit) {
			return fmt.Errorf("credit: %s is not a number above 0 and up to %d", text.Quoted(cells[3]),
				locality.MaxCredit/locality.Micro)
		}
		j.Credit = int64(math.Round(credit * locality.Micro))
	}
	if cells[4] != "" {
		if j.Quorum, err = strconv.Atoi(cells[4]); err != nil || j.Quorum < 1 || j.Quorum > locality.MaxQuorum {
			return fmt.Errorf("quorum: %s is not a whole number from 1 to %d", text.Quoted(cells[4]),
				locality.MaxQuorum)
		}
	}
	if j.A < in.start {
		return fmt.Errorf("its first file is %s, but the job before it begins with %s; list jobs in the order of "+
			"their first files",
			text.Quoted(in.Files[j.A].Name), text.Quoted(in.Files[in.start].Name))
	}
	in.start = j.A
	in.Jobs, in.lines = append(in.Jobs, j), append(in.lines, int32(line))
	return nil
}

// row finds the range of files given by all their names.
func (in *Lists) row(names []string) (first, last int, err error) {
	for i, name := range names {
		n, err := in.number("files", name)
		if err != nil {
			return 0, 0, err
		}
		if i == 0 {
			first, last = n, n
			continue
		}
		if n != last+1 {
			return 0, 0, fmt.Errorf("files: %s does not follow %s in the sequence; a job's files must be consecutive",
				text.Quoted(name), text.Quoted(names[i-1]))
		}
		last = n
	}
	return first, last, nil
}

// ends finds the range of files given by its two ends.
func (in *Lists) ends(a, b string) (first, last int, err error) {
	if first, err = in.number("first", a); err != nil {
		return 0, 0, err
	}
	if b == "" {
		return first, first, nil
	}
	if last, err = in.number("last", b); err == nil && last < first {
		err = fmt.Errorf("last: %s comes before %s", text.Quoted(b), text.Quoted(a))
	}
	return first, last, err
}

func (in *Lists) number(column, name string) (int, error) {
	if name == "" {
		return 0, fmt.Errorf("%s: the file is missing", column)
	}
	n, ok := in.numbers[name]
	if !ok {
		return 0, fmt.Errorf("%s: %s is not in the list of files", column, text.Quoted(name))
	}
	return n, nil
}
