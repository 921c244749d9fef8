package etcd

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// keys makes the keys below a prefix. They must not change.
type keys string

func (k keys) key(name string) string { return string(k) + "/" + name }

func (k keys) meta() string  { return k.key("meta") }
func (k keys) head() string  { return k.key("head") }
func (k keys) first() string { return k.key("first") }
func (k keys) snap() string  { return k.key("snap") }

// earlier returns the key that is to the snapshot before the newest what snap is to the
// newest.
func (k keys) earlier() string { return k.key("earlier") }

// above returns the prefixes that a prefix lies below.
func (k keys) above() (list []keys) {
	for i, c := range k {
		if c == '/' {
			list = append(list, k[:i])
		}
	}
	return list
}

func (k keys) entry(n uint64) string { return k.key(fmt.Sprintf("log/%016x", n)) }

// parts returns the prefix of the keys of an entry's parts.
func (k keys) parts(n uint64, id [16]byte) string { return k.key(fmt.Sprintf("part/%016x/%x/", n, id)) }

// pieces returns the prefix of the keys of a snapshot's pieces.
func (k keys) pieces(s newest) string { return k.key(fmt.Sprintf("snap/%016x/%x/", s.at.N, s.make)) }

// nth returns the key of a part or a piece.
func nth(under string, i int) string { return fmt.Sprintf("%s%06x", under, i) }

func (k keys) line() string { return k.key("line/") }

// ownerOf returns the end of the key of an owner in the line. Without a name it is drawn.
func ownerOf(name string) string {
	if name == "" {
		name = rand.Text()
	}
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:8])
}
