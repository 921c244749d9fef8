package pbs

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
)

// ref is a reference to a job: 12, 12.server, an array 12[], an element 12[3], or several 12[1-3].
type ref struct {
	text     string
	id       uint64
	from, to int  // -1: not of an array, or the whole array
	whole    bool // 12[]
}

func parseRef(text string) (r ref, err error) {
	r = ref{text: text, from: -1, to: -1}
	bad := fronts.Failf(1, "%s", "illegally formed job identifier: "+text)
	number, _, _ := strings.Cut(text, ".")
	number, inner, isArray := strings.Cut(number, "[")
	if r.id, err = strconv.ParseUint(number, 10, 63); err != nil || r.id == 0 {
		return r, bad
	}
	if !isArray {
		return r, nil
	}
	inner, closed := strings.CutSuffix(inner, "]")
	if !closed {
		return r, bad
	}
	if r.whole = inner == ""; r.whole {
		return r, nil
	}
	from, to, ranges := strings.Cut(inner, "-")
	if !ranges {
		to = from
	}
	a, err1 := strconv.Atoi(from)
	b, err2 := strconv.Atoi(to)
	if err1 != nil || err2 != nil || a < 0 || b < a {
		return r, bad
	}
	r.from, r.to = a, b
	return r, nil
}

func (r ref) names(j *fronts.Job) bool {
	switch {
	case r.from >= 0:
		return j.Array == r.id && r.from <= j.Index && j.Index <= r.to
	case r.whole:
		return j.Array == r.id
	}
	return j.ID == r.id || j.Array == r.id
}

// name returns a job's name in PBS: 12.placectl, 12[3].placectl.
func name(j *fronts.Job, server string) string {
	if j.Array != 0 {
		return fmt.Sprintf("%d[%d].%s", j.Array, j.Index, server)
	}
	return fmt.Sprintf("%d.%s", j.ID, server)
}

// looksLikeJob reports whether a word is more likely a job than a queue.
func looksLikeJob(word string) bool { return word != "" && word[0] >= '0' && word[0] <= '9' }
