package row

import (
	"strings"
)

// Beat is the last heartbeat of the process that executes a user's attempts on a host.
type Beat struct {
	Host, User string
	Boot       string // the host's boot
	Seen       int64
	Down       []uint32 // nodes set down because heartbeats are missing
	Touched    []uint32 // nodes whose state a person has set since: they do not come back automatically
}

const (
	beatVersion = 1
	beatPrefix  = "beat "
)

// BeatPrefix begins the keys of beats in the table Meta. On disk; must not change.
func BeatPrefix() []byte { return []byte(beatPrefix) }

// Key returns the key of the row.
func (b *Beat) Key() []byte { return []byte(beatPrefix + b.User + "@" + b.Host) }

func isBeatKey(key []byte) bool { return strings.HasPrefix(string(key), beatPrefix) }

func beatFields(f *Fields, b *Beat) {
	f.Version(beatVersion)
	f.Text("host", &b.Host)
	f.Text("user", &b.User)
	f.Text("boot", &b.Boot)
	f.At("seen", &b.Seen, Past)
	Uints(f, "down", &b.Down)
	if f.More(len(b.Touched) > 0) {
		Uints(f, "touched", &b.Touched)
	}
	f.Must(string(b.Key()) == string(f.key))
}

// EncodeBeat returns the row.
func EncodeBeat(b *Beat) []byte { return encode(beatFields, b) }

// DecodeBeat reads it.
func DecodeBeat(key, payload []byte) (*Beat, error) {
	return decode(Meta, beatFields, key, payload)
}

// Beats appends the beat in a row of the table Meta, if it is one.
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
