package exit

import (
	"errors"
	"strconv"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/internal/text"
)

// AppendJSON writes {"error":{...}} as one line.
func AppendJSON(b []byte, err error, code int, why Reason) []byte {
	b = append(b, `{"error":{"status":`...)
	b = strconv.AppendInt(b, int64(code), 10)
	b = append(b, `,"code":`...)
	b = output.AppendJSONString(b, string(why))
	b = append(b, `,"message":`...)
	b = output.AppendJSONString(b, err.Error())
	b = append(b, `,"earliest":`...)
	b = appendEarliest(b, err)
	if job := Guess(err); job != 0 {
		b = strconv.AppendUint(append(b, `,"guess":`...), job, 10)
	}
	var more *Detailed
	if errors.As(err, &more) {
		b = append(output.AppendJSONString(append(b, ','), more.Key), ':')
		b = append(b, more.Value...)
	}
	return append(b, "}}\n"...)
}

// appendEarliest appends the instant at which a refused request could start.
func appendEarliest(b []byte, err error) []byte {
	var e interface{ Earliest() (int64, bool) }
	if errors.As(err, &e) {
		if at, ok := e.Earliest(); ok {
			return append(text.AppendRFC3339(append(b, '"'), at), '"')
		}
	}
	return append(b, "null"...)
}

// Guess returns the overdue job that makes the earliest start of a refused request a guess, or 0.
func Guess(err error) uint64 {
	var e interface{ Guess() uint64 }
	if errors.As(err, &e) {
		return e.Guess()
	}
	return 0
}

// Detailed is an error with more for programs: a key of the error object, and its value as JSON.
type Detailed struct {
	Err   error
	Key   string
	Value []byte
}

func (e *Detailed) Error() string { return e.Err.Error() }
func (e *Detailed) Unwrap() error { return e.Err }

// AppendWarning writes {"warning":{...}} as one line, for programs to show or log. code is a word for the
// kind of warning.
func AppendWarning(b []byte, code, message string) []byte {
	b = output.AppendJSONString(append(b, `{"warning":{"code":`...), code)
	b = output.AppendJSONString(append(b, `,"message":`...), message)
	return append(b, "}}\n"...)
}

// Unjoin splits errors joined by errors.Join, and no others: only there do line breaks separate errors
// rather than being part of a name.
func Unjoin(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var texts []string
	var all []error
	for _, e := range joined.Unwrap() {
		texts = append(texts, e.Error())
		all = append(all, Unjoin(e)...)
	}
	if strings.Join(texts, "\n") != err.Error() {
		return []error{err}
	}
	return all
}

// AppendCaret appends the input with a mark below it, unless an unprintable character would misplace the
// mark.
func AppendCaret(b []byte, caret string) []byte {
	lines := strings.Split(strings.TrimRight(caret, "\n"), "\n")
	for _, line := range lines {
		if text.Printable(line) != line {
			return b
		}
	}
	for _, line := range lines {
		b = append(b, "  "+line+"\n"...)
	}
	return b
}
