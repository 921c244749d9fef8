package placer

import (
	"fmt"
	"strings"

	"github.com/placectl/placectl/index"
)

// Arrangement says how the chunks of a request lie on hosts.
type Arrangement uint8

// The arrangements. The zero value applies to a select without a place.
const (
	Free     Arrangement = iota // any nodes, several chunks on one if they fit
	Pack                        // all chunks on one host
	Scatter                     // one chunk per host
	VScatter                    // one chunk a node
)

var arrangementWords = [...]string{Free: "free", Pack: "pack", Scatter: "scatter", VScatter: "vscatter"}

func (a Arrangement) String() string {
	if int(a) < len(arrangementWords) {
		return arrangementWords[a]
	}
	return fmt.Sprintf("arrangement(%d)", a)
}

// Sharing says who else may use the nodes of a request.
type Sharing uint8

// The sharings.
const (
	Default  Sharing = iota // not specified: the node decides
	Shared                  // others may use what is left of a node
	Excl                    // no other job on the nodes
	ExclHost                // no other job on the hosts of the nodes
)

var sharingWords = [...]string{Default: "", Shared: "shared", Excl: "excl", ExclHost: "exclhost"}

// String returns the word used in a place, "" for Default.
func (s Sharing) String() string {
	if int(s) < len(sharingWords) {
		return sharingWords[s]
	}
	return fmt.Sprintf("sharing(%d)", s)
}

// Place says where the chunks of a request may lie. The zero value is free.
type Place struct {
	Arrange  Arrangement
	Share    Sharing
	Group    index.ResID // all chunks on nodes of one value of this resource
	HasGroup bool
}

// Exclusive reports whether the request takes whole nodes.
func (p Place) Exclusive() bool { return p.Share == Excl || p.Share == ExclHost }

// String returns the canonical form: the arrangement, the sharing if one was written, and the group
// by its resource's number. Use Format to name the resource.
func (p Place) String() string {
	s := p.words()
	if p.HasGroup {
		s += fmt.Sprintf(":group=#%d", p.Group)
	}
	return s
}

// Format returns the canonical form that ParsePlace reads back: scatter:excl:group=rack.
func (p Place) Format(defs *index.Defs) string {
	if def, ok := defs.Get(p.Group); ok && p.HasGroup {
		return p.words() + ":group=" + def.Name
	}
	return p.String()
}

func (p Place) words() string {
	if p.Share == Default {
		return p.Arrange.String()
	}
	return p.Arrange.String() + ":" + p.Share.String()
}

// ParsePlace reads a place: at most one arrangement, at most one sharing, and group=RESOURCE,
// joined by colons, in any order and any case. If there are several groups, the last applies, as in
// PBS. The error matches ErrRequest.
func ParsePlace(defs *index.Defs, s string) (Place, error) {
	p, err := newReader(defs, "place", s)
	if err != nil {
		return Place{}, err
	}
	return p.place()
}

// place reads a place up to the end of the part.
func (p *reader) place() (Place, error) {
	p.SkipSpace()
	var (
		pl           Place
		first, share string
		err          error
	)
	for {
		at := p.At
		word := p.Letters()
		if a, ok := wordIndex(arrangementWords[:], word); ok {
			err = p.onlyOne(at, &first, word, arrangementWords[:])
			pl.Arrange = Arrangement(a)
		} else if s, ok := wordIndex(sharingWords[:], word); ok {
			err = p.onlyOne(at, &share, word, sharingWords[1:])
			pl.Share = Sharing(s)
		} else if strings.EqualFold(word, "group") {
			pl.HasGroup = true
			pl.Group, err = p.group()
		} else {
			err = p.badPlaceWord(at, word)
		}
		if err != nil {
			return Place{}, err
		}
		if p.At == p.End {
			return pl, nil
		}
		if p.Text[p.At] != ':' {
			return Place{}, p.Fail(p.At, "expected : and another word, or the end of the place")
		}
		p.At++
	}
}

func wordIndex(words []string, word string) (int, bool) {
	for i, w := range words {
		if word != "" && strings.EqualFold(w, word) {
			return i, true
		}
	}
	return 0, false
}

// onlyOne refuses a second word of a kind; seen holds the first.
func (p *reader) onlyOne(at int, seen *string, word string, kind []string) error {
	if *seen != "" {
		return p.Fail(at, "%s after %s: a place has only one of %s", word, *seen, strings.Join(kind, ", "))
	}
	*seen = word
	return nil
}

// group reads the rest after the word group.
func (p *reader) group() (index.ResID, error) {
	if p.Peek() != '=' {
		return 0, p.Fail(p.At, "expected = and a resource after group")
	}
	p.At++
	at := p.At
	name := p.Name()
	if name == "" {
		return 0, p.Fail(at, "expected the name of a resource after group=")
	}
	def, ok := p.Defs.Lookup(name)
	if !ok {
		return 0, p.noResource(at, name)
	}
	if def.Type != index.String && def.Type != index.StringArray {
		return 0, p.Fail(at, "nodes cannot be grouped by %s, a %s: only by a string or a string_array", def.Name,
			def.Type)
	}
	return def.ID, nil
}

func (p *reader) badPlaceWord(at int, word string) error {
	words := append(append([]string{"group"}, arrangementWords[:]...), sharingWords[1:]...)
	if word == "" {
		return p.Fail(at, "expected a word of %s", strings.Join(words, ", "))
	}
	return p.Fail(at, "no place %q: use %s%s", word, strings.Join(words, ", "), index.DidYouMean(word, words))
}
