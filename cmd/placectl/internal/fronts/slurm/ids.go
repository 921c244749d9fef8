package slurm

import (
	"slices"
	"strconv"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
)

// ref is a reference to a job: 12, an element 12_3, several 12_[1-3,7], or a step 12.batch.
type ref struct {
	text    string
	id      uint64
	indices [][2]int // from, to; nil: the whole array
	step    string
}

// parseRef reads one name of a job.
func parseRef(text string) (r ref, err error) {
	r.text = text
	bad := saying("Invalid job id %s", text)
	text, r.step, _ = strings.Cut(text, ".")
	number, element, isArray := strings.Cut(text, "_")
	if r.id, err = strconv.ParseUint(number, 10, 63); err != nil || r.id == 0 {
		return r, bad
	}
	if !isArray || element == "*" || element == "[*]" {
		return r, nil
	}
	if inner, ok := strings.CutPrefix(element, "["); ok {
		if element, ok = strings.CutSuffix(inner, "]"); !ok {
			return r, bad
		}
	}
	element, _, _ = strings.Cut(element, "%")
	for part := range strings.SplitSeq(element, ",") {
		from, to, ranges := strings.Cut(part, "-")
		if !ranges {
			to = from
		}
		a, err1 := strconv.Atoi(from)
		b, err2 := strconv.Atoi(to)
		if err1 != nil || err2 != nil || a < 0 || b < a {
			return r, bad
		}
		r.indices = append(r.indices, [2]int{a, b})
	}
	return r, nil
}

// names reports whether the reference names a job.
func (r ref) names(j *fronts.Job) bool {
	if j.ID == r.id && r.indices == nil {
		return true
	}
	if j.Array != r.id {
		return false
	}
	for _, in := range r.indices {
		if in[0] <= j.Index && j.Index <= in[1] {
			return true
		}
	}
	return r.indices == nil
}

// parseRefs reads names joined by commas, except commas in brackets.
func parseRefs(list string) (refs []ref, err error) {
	depth, from := 0, 0
	for i := 0; i <= len(list); i++ {
		if i < len(list) {
			switch list[i] {
			case '[':
				depth++
			case ']':
				depth--
			}
			if list[i] != ',' || depth > 0 {
				continue
			}
		}
		if word := strings.TrimSpace(list[from:i]); word != "" {
			r, err := parseRef(word)
			if err != nil {
				return nil, err
			}
			refs = append(refs, r)
		}
		from = i + 1
	}
	return refs, nil
}

// numbers returns the job numbers of the references.
func numbers(refs []ref) []uint64 {
	ids := make([]uint64, len(refs))
	for i, r := range refs {
		ids[i] = r.id
	}
	return ids
}

// named reports whether any of the references names a job.
func named(refs []ref, j *fronts.Job) bool {
	return slices.ContainsFunc(refs, func(r ref) bool { return r.names(j) })
}
