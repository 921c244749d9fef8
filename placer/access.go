package placer

import (
	"strconv"
	"strings"

	"github.com/placectl/placectl/placer/subject"
)

// An access list says which jobs may use a reservation, and how strongly they prefer it. Its text
// is subjects joined by commas, each with + (the default), = or - at the end for the affinity:
//
//	user=ann,group=physics-,class=long=
//
// A name that ends in one of the three signs itself is quoted: account="c++"-. The name * of any kind admits every
// job: user=*.

// AccessEntry admits the jobs of a subject, or all jobs if its name is subject.Any. Names are compared as written,
// including case.
type AccessEntry struct {
	subject.Subject
	Affinity Affinity // Positive, Neutral or Negative
}

// signs are those of the affinities, from Negative on.
const signs = "-=+"

// String returns the entry in the form that ParseAccess reads.
func (e AccessEntry) String() string {
	text := e.Subject.String()
	if e.Affinity == Negative || e.Affinity == Neutral {
		text += signs[e.Affinity-Negative:][:1]
	}
	return text
}

// AccessList says who may use a reservation: the jobs that any entry admits. The empty list admits
// none.
type AccessList []AccessEntry

// String returns the list in the form that ParseAccess reads, "" for the empty list.
func (l AccessList) String() string {
	var b strings.Builder
	for i, e := range l {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(e.String())
	}
	return b.String()
}

// Entrant is a job as access lists see it. Empty names and 0 are unknown and match no entry.
type Entrant struct {
	subject.Names
	Name string // of the job

	Job   uint64
	Array uint64 // the number of its array, and its index there
	Index int
}

// Affinity reports whether the list admits a job and, if so, with which affinity: the highest of
// the matching entries.
func (l AccessList) Affinity(who Entrant) (Affinity, bool) {
	best, in := Negative, false
	for i := range l {
		if l[i].matches(&who) {
			best, in = max(best, l[i].Affinity), true
		}
	}
	if !in {
		return Neutral, false
	}
	return best, true
}

func (e *AccessEntry) matches(who *Entrant) bool {
	switch {
	case e.Name == "" || !e.Kind.Valid():
		return false // it would match an unknown value
	case e.Name == subject.Any:
		return true
	case e.Kind == subject.Job:
		return e.Name == who.Name || e.Numbers(who)
	}
	return e.Name == who.Names[e.Kind]
}

// Numbers reports whether the entry admits a job by its number or its index in an array.
func (e *AccessEntry) Numbers(who *Entrant) bool {
	if e.Kind != subject.Job {
		return false
	}
	var digits [20]byte
	for _, number := range [...]uint64{who.Job, who.Array} {
		if number != 0 && string(strconv.AppendUint(digits[:0], number, 10)) == e.Name {
			return true
		}
	}
	if who.Array == 0 {
		return false
	}
	indices, mine := strings.CutPrefix(e.Name, who.ArrayPrefix())
	indices, closed := strings.CutSuffix(indices, "]")
	if !mine || !closed || indices == "" {
		return mine && closed
	}
	first, last, isRange := strings.Cut(indices, "-")
	if !isRange {
		last = first
	}
	from, err1 := strconv.ParseUint(first, 10, 32)
	to, err2 := strconv.ParseUint(last, 10, 32)
	return err1 == nil && err2 == nil && from <= uint64(who.Index) && uint64(who.Index) <= to
}

// ParseAccess reads an access list; an empty text is the empty list. A repeated entry counts once,
// but must not have two affinities. The error is a *syntax.Error.
func ParseAccess(text string) (AccessList, error) {
	p, err := newReader(nil, "access list", text)
	if err != nil {
		return nil, err
	}
	if p.SkipSpace(); p.At == p.End {
		return nil, nil
	}
	var list AccessList
	seen := make(map[subject.Subject]Affinity)
	for {
		p.SkipSpace()
		at := p.At
		e, err := p.accessEntry()
		if err != nil {
			return nil, err
		}
		switch before, twice := seen[e.Subject]; {
		case !twice:
			seen[e.Subject] = e.Affinity
			list = append(list, e)
		case before != e.Affinity:
			return nil, p.Fail(at, "%s %q is given twice, with different affinities: one of +, = and - has to do",
				e.Kind, e.Name)
		}
		if p.At == p.End {
			return list, nil
		}
		p.At++ // the comma at which accessEntry stopped
	}
}

// accessEntry reads a subject and its affinity, the last sign outside quotes. It stops at a comma or at the end.
func (p *reader) accessEntry() (AccessEntry, error) {
	at := p.At
	s, plain, err := subject.All.Read(&p.Scanner)
	e := AccessEntry{s, Positive}
	if err != nil {
		return e, err
	}
	start := at + strings.IndexAny(p.Text[at:], "=:") + 1
	sign := func() int { // of the end of the name, as far as that was outside quotes
		if plain == 0 {
			return -1
		}
		return strings.IndexByte(signs, e.Name[len(e.Name)-1])
	}
	if i := sign(); i >= 0 {
		e.Affinity, e.Name, plain = Negative+Affinity(i), e.Name[:len(e.Name)-1], plain-1
	}
	switch {
	case e.Name == "":
		return e, p.Fail(start, "%s needs a name", e.Kind)
	case sign() >= 0:
		return e, p.Fail(start, `%[1]q ends in a sign that could be its affinity: write "%[1]s" and the affinity behind it`,
			e.Name)
	}
	return e, nil
}
