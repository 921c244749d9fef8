package row

import (
	"strings"
)

// Beat is when somebody who executes attempts of a user on a host was last heard of.
type Beat struct {
	Host, User string
	Boot       string // which start of the host it is
	Seen       int64
	Down       []uint32 // the nodes that were taken to be down because nobody was heard of
}

const (
	beatVersion = 1
	beatPrefix  = "beat "
)

// BeatPrefix begins the keys of beats in the table Meta. On disk; must not change.
func BeatPrefix() []byte { return []byte(beatPrefix) }

// Key is where the row stands.
func (b *Beat) Key() []byte { return []byte(beatPrefix + b.User + "@" + b.Host) }

func isBeatKey(key []byte) bool { return strings.HasPrefix(string(key), beatPrefix) }

// EncodeBeat is the row.
func EncodeBeat(b *Beat) []byte {
	e := encoder{}
	e.byte(beatVersion)
	e.string(b.Host)
	e.string(b.User)
	e.string(b.Boot)
	e.int(b.Seen)
	e.uint(uint64(len(b.Down)))
	for _, n := range b.Down {
		e.uint(uint64(n))
	}
	return e.b
}

// DecodeBeat reads it.
func DecodeBeat(key, payload []byte) (*Beat, error) {
	d := decoder{b: payload}
	d.byte()
	b := &Beat{Host: d.string(), User: d.string(), Boot: d.string(), Seen: d.int()}
	for range d.count() {
		b.Down = append(b.Down, uint32(d.uint()))
	}
	d.bad = d.bad || string(b.Key()) != string(key)
	return b, d.done(Meta, key)
}

// Beats adds what a row of the table Meta says, if it is a beat.
func Beats(key, payload []byte, out []Beat) ([]Beat, error) {
	if !isBeatKey(key) {
		return out, nil
	}
	b, err := DecodeBeat(key, payload)
	if err != nil {
		return nil, err
	}
	return append(out, *b), nil
}
