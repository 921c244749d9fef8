package swf

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// maxLine limits a line. Logs with an extra field for hosts have lines of some kilobytes.
const maxLine = 1 << 20

// Reader reads a log job by job, in constant memory.
type Reader struct {
	lines  *bufio.Scanner
	line   int
	labels map[string]string
	err    error
}

// LineError is an error in the log's text.
type LineError struct {
	Line  int    // from 1
	Field int    // from 1; 0 if it is about the whole line
	Why   string // the mistake, and the right form
}

func (e *LineError) Error() string {
	if e.Field == 0 {
		return fmt.Sprintf("line %d: %s", e.Line, e.Why)
	}
	return fmt.Sprintf("line %d, field %d (%s): %s", e.Line, e.Field, fields[e.Field-1].name, e.Why)
}

// NewReader reads from r, and decompresses gzip.
func NewReader(r io.Reader) (*Reader, error) {
	in := bufio.NewReader(r)
	head, err := in.Peek(2)
	if err != nil && err != io.EOF {
		return nil, err
	}
	var text io.Reader = in
	if string(head) == "\x1f\x8b" {
		if text, err = gzip.NewReader(in); err != nil {
			return nil, fmt.Errorf("not a whole gzip file: %w", err)
		}
	}
	lines := bufio.NewScanner(text)
	lines.Buffer(nil, maxLine)
	return &Reader{lines: lines, labels: map[string]string{}}, nil
}

// Next returns the next job, or io.EOF after the last. Errors in the text are *LineError.
// After an error it returns the same one again.
func (r *Reader) Next() (Job, error) {
	for r.err == nil && r.lines.Scan() {
		r.line++
		text := strings.TrimSpace(r.lines.Text())
		if comment, ok := strings.CutPrefix(text, ";"); ok {
			r.comment(comment)
			continue
		}
		if text == "" {
			continue
		}
		var job Job
		if job, r.err = parse(text, r.line); r.err == nil {
			return job, nil
		}
	}
	if r.err == nil {
		r.err = r.ended()
	}
	return Job{}, r.err
}

// ended says why there are no more lines.
func (r *Reader) ended() error {
	switch err := r.lines.Err(); {
	case err == nil:
		return io.EOF
	case errors.Is(err, bufio.ErrTooLong):
		return &LineError{Line: r.line + 1, Why: fmt.Sprintf("it is longer than %d bytes", maxLine)}
	default:
		return fmt.Errorf("after line %d: %w", r.line, err)
	}
}

// Label returns the value of a label such as MaxProcs in the comments read so far, or "".
// Labels come before the first job. If a label such as Note is given several times, the first
// one counts.
func (r *Reader) Label(name string) string { return r.labels[strings.ToLower(name)] }

func (r *Reader) comment(text string) {
	name, value, ok := strings.Cut(strings.TrimLeft(text, ";"), ":")
	if name = strings.ToLower(strings.TrimSpace(name)); !ok || name == "" || strings.Contains(name, " ") {
		return
	}
	if _, given := r.labels[name]; !given {
		r.labels[name] = strings.TrimSpace(value)
	}
}

// fields are the fields of the standard, in order. Amounts can have decimals.
var fields = [Fields]struct {
	name   string
	amount bool
	of     func(*Job) *int64
}{
	{"job number", false, func(j *Job) *int64 { return &j.Number }},
	{"submit time", true, func(j *Job) *int64 { return &j.Submit }},
	{"wait time", true, func(j *Job) *int64 { return &j.Wait }},
	{"run time", true, func(j *Job) *int64 { return &j.Run }},
	{"processors", false, func(j *Job) *int64 { return &j.Procs }},
	{"cpu time", true, func(j *Job) *int64 { return &j.CPU }},
	{"used memory", true, func(j *Job) *int64 { return &j.Memory }},
	{"requested processors", false, func(j *Job) *int64 { return &j.WantProcs }},
	{"requested time", true, func(j *Job) *int64 { return &j.WantTime }},
	{"requested memory", true, func(j *Job) *int64 { return &j.WantMemory }},
	{"status", false, func(j *Job) *int64 { return &j.Status }},
	{"user", false, func(j *Job) *int64 { return &j.User }},
	{"group", false, func(j *Job) *int64 { return &j.Group }},
	{"program", false, func(j *Job) *int64 { return &j.App }},
	{"queue", false, func(j *Job) *int64 { return &j.Queue }},
	{"partition", false, func(j *Job) *int64 { return &j.Partition }},
	{"preceding job", false, func(j *Job) *int64 { return &j.Predecessor }},
	{"think time", true, func(j *Job) *int64 { return &j.ThinkSeconds }},
}

// parse reads the line of a job.
func parse(text string, line int) (Job, error) {
	words := strings.Fields(text)
	if len(words) < Fields {
		return Job{}, &LineError{Line: line, Why: fmt.Sprintf("%d fields; a job has %d", len(words), Fields)}
	}
	job := Job{Line: line}
	for i, f := range fields {
		n, why := parseNumber(words[i], f.amount)
		if why != "" {
			return Job{}, &LineError{Line: line, Field: i + 1, Why: why}
		}
		*f.of(&job) = n
	}
	if len(words) > Fields {
		job.Extra = words[Fields:]
	}
	return job, nil
}

// maxAmount limits numbers with decimals: up to here float64 has every whole number.
const maxAmount = 1 << 53

// parseNumber reads a field. why says what is wrong with it, or is "".
func parseNumber(s string, amount bool) (n int64, why string) {
	n, err := strconv.ParseInt(s, 10, 64)
	switch {
	case err == nil:
		return n, ""
	case errors.Is(err, strconv.ErrRange):
		return 0, fmt.Sprintf("%q is too large", s)
	case !amount:
		return 0, fmt.Sprintf("%q is not a whole number", s)
	case strings.Trim(s, "+-.0123456789eE") != "": // no hexadecimal, no NaN
		return 0, fmt.Sprintf("%q is not a number", s)
	}
	f, err := strconv.ParseFloat(s, 64)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange):
		return 0, fmt.Sprintf("%q is not a number", s)
	case err != nil || math.Abs(f) > maxAmount:
		return 0, fmt.Sprintf("%q is too large", s)
	}
	return int64(math.Round(f)), ""
}
