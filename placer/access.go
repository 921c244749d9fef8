package placer

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/placectl/placectl/index"
)

// An access list says which jobs may use a reservation, and how strongly they prefer it. Its text
// is entries joined by commas, each a kind, =, a value, and at the end + (the default), = or - for
// the affinity:
//
//	user=ann,group=physics-,class=long=
//
// Quote a value (with either kind of quotes) that ends in one of the three signs itself, or holds a
// comma, a blank or a quote: account="c++"-. The value * of any kind admits every job: user=*.

// AccessKind is the property of a job that an access entry compares. The numbers are on disk and
// must not change.
type AccessKind uint8

// The kinds of access entries.
const (
	AccessUser    AccessKind = 1
	AccessGroup   AccessKind = 2
	AccessAccount AccessKind = 3
	AccessClass   AccessKind = 4
	AccessQueue   AccessKind = 5
	AccessJob     AccessKind = 6 // by name or by number: 12 (a job, or an array), or of an array 12[3], 12[0-4]
)

var accessKinds = [...]string{AccessUser: "user", AccessGroup: "group", AccessAccount: "account",
	AccessClass: "class", AccessQueue: "queue", AccessJob: "job"}

func (k AccessKind) String() string {
	if k.Valid() {
		return accessKinds[k]
	}
	return fmt.Sprintf("access(%d)", uint8(k))
}

// Valid reports whether k is a known kind. Call it on values read from disk.
func (k AccessKind) Valid() bool { return k >= AccessUser && int(k) < len(accessKinds) }

func noAccessKind(s string) string {
	kinds := accessKinds[AccessUser:]
	return fmt.Sprintf("no kind of access %q: use %s%s", s, strings.Join(kinds, ", "), index.DidYouMean(s, kinds))
}

// Anybody is the value of an entry that admits every job, whatever its kind.
const Anybody = "*"

// AccessEntry admits the jobs whose property of this kind has the value, or all jobs if the value
// is Anybody. Values are compared as written, including case.
type AccessEntry struct {
	Kind     AccessKind
	Value    string
	Affinity Affinity // Positive, Neutral or Negative
}

// String returns the entry in the form that ParseAccess reads.
func (e AccessEntry) String() string {
	var b strings.Builder
	e.write(&b)
	return b.String()
}

func (e AccessEntry) write(b *strings.Builder) {
	b.WriteString(e.Kind.String())
	b.WriteByte('=')
	var value strings.Builder
	writeValue(&value, e.Value)
	if text := value.String(); text == e.Value && strings.HasSuffix(text, "-") {
		b.WriteString(`"` + text + `"`) // a select may leave a - alone; here it would be the affinity
	} else {
		b.WriteString(text)
	}
	switch e.Affinity {
	case Neutral:
		b.WriteByte('=')
	case Negative:
		b.WriteByte('-')
	}
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
		e.write(&b)
	}
	return b.String()
}

// Subject is a job as access lists see it. Empty fields and 0 are unknown and match no entry.
type Subject struct {
	User, Group, Account, Class, Queue, JobName string

	Job   uint64
	Array uint64 // the number of its array, and its index there
	Index int
}

// Affinity reports whether the list admits a job and, if so, with which affinity: the highest of
// the matching entries.
func (l AccessList) Affinity(who Subject) (Affinity, bool) {
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

func (e *AccessEntry) matches(who *Subject) bool {
	switch e.Value {
	case "":
		return false // it would match an unknown value
	case Anybody:
		return true
	}
	switch e.Kind {
	case AccessUser:
		return e.Value == who.User
	case AccessGroup:
		return e.Value == who.Group
	case AccessAccount:
		return e.Value == who.Account
	case AccessClass:
		return e.Value == who.Class
	case AccessQueue:
		return e.Value == who.Queue
	case AccessJob:
		return e.Value == who.JobName || e.Numbers(who)
	}
	return false
}

// Numbers reports whether the entry admits a job by its number or its index in an array.
func (e *AccessEntry) Numbers(who *Subject) bool {
	if e.Kind != AccessJob {
		return false
	}
	var digits [20]byte
	for _, number := range [...]uint64{who.Job, who.Array} {
		if number != 0 && string(strconv.AppendUint(digits[:0], number, 10)) == e.Value {
			return true
		}
	}
	if who.Array == 0 {
		return false
	}
	indices, mine := strings.CutPrefix(e.Value, who.ArrayPrefix())
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
	type entry struct {
		kind  AccessKind
		value string
	}
	seen := make(map[entry]Affinity)
	for {
		p.SkipSpace()
		at := p.At
		e, err := p.accessEntry()
		if err != nil {
			return nil, err
		}
		key := entry{e.Kind, e.Value}
		switch before, twice := seen[key]; {
		case !twice:
			seen[key] = e.Affinity
			list = append(list, e)
		case before != e.Affinity:
			return nil, p.Fail(at, "%s %q is given twice, with different affinities: one of +, = and - has to do",
				e.Kind, e.Value)
		}
		if p.At == p.End {
			return list, nil
		}
		p.At++ // the comma at which accessEntry stopped
	}
}

// accessEntry reads kind=value and its affinity. It stops at a comma or at the end.
func (p *reader) accessEntry() (AccessEntry, error) {
	e := AccessEntry{Affinity: Positive}
	at := p.At
	word := p.Letters()
	kind, known := wordIndex(accessKinds[:], word)
	switch {
	case word == "" || p.Peek() != '=' && !known:
		return e, p.Fail(at, "expected an entry such as user=ann; each names its kind, one of %s",
			strings.Join(accessKinds[AccessUser:], ", "))
	case !known:
		return e, p.Fail(at, "%s", noAccessKind(word))
	case p.Peek() != '=':
		return e, p.Fail(p.At, "expected = and a value after %s", word)
	}
	p.At++
	e.Kind = AccessKind(kind)
	var err error
	e.Value, e.Affinity, err = p.accessValue(word)
	return e, err
}

// accessValue reads a value, which may be quoted in parts, and the affinity behind it. Only the
// last sign outside quotes is the affinity.
func (p *reader) accessValue(kind string) (string, Affinity, error) {
	start := p.At
	var value []byte
	plain := 0 // how much of the value's end stood outside quotes
	for p.At < p.End && p.Text[p.At] != ',' {
		switch c := p.Text[p.At]; c {
		case '"', '\'':
			inside, err := p.Quoted(c)
			if err != nil {
				return "", 0, err
			}
			value, plain = append(value, inside...), 0
		case ' ', '\t':
			at := p.At
			if p.SkipSpace(); p.At < p.End && p.Text[p.At] != ',' {
				return "", 0,
					p.Fail(at, "a blank: entries are joined by commas; a value that holds a blank needs quotes")
			}
		default:
			from := p.At
			if err := p.Step(); err != nil {
				return "", 0, err
			}
			value = append(value, p.Text[from:p.At]...)
			plain += p.At - from
		}
	}
	affinity := Positive
	if a, ok := affinitySign(value, plain); ok {
		affinity, value, plain = a, value[:len(value)-1], plain-1
	}
	switch _, another := affinitySign(value, plain); {
	case len(value) == 0:
		return "", 0, p.Fail(start, "%s needs a value", kind)
	case another:
		return "", 0,
			p.Fail(start, `%[1]q ends in a sign that could be its affinity: write "%[1]s" and the affinity behind it`,
				value)
	}
	return string(value), affinity, nil
}

// affinitySign reads the last character of a value; plain is how much of it was outside quotes.
func affinitySign(value []byte, plain int) (Affinity, bool) {
	if plain == 0 {
		return 0, false
	}
	switch value[len(value)-1] {
	case '+':
		return Positive, true
	case '=':
		return Neutral, true
	case '-':
		return Negative, true
	}
	return 0, false
}
