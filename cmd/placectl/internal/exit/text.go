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
	b = append(b, `{"error":{"code":`...)
	b = strconv.AppendInt(b, int64(code), 10)
	b = append(b, `,"message":`...)
	b = output.AppendJSONString(b, err.Error())
	b = append(b, `,"reason":`...)
	b = output.AppendJSONString(b, string(why))
	var e interface{ Earliest() (int64, bool) }
	if errors.As(err, &e) {
		if at, ok := e.Earliest(); ok {
			b = append(b, `,"earliest":"`...)
			b = append(text.AppendRFC3339(b, at), '"')
		}
	}
	return append(b, "}}\n"...)
}

// Unjoin takes an errors.Join apart, and nothing else: only there does a line
// break stand between errors rather than inside a name.
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

// AppendCaret adds the input and the mark below it, unless an unprintable
// character would push the mark out of place.
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
