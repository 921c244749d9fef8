//go:build etcd

package etcd

import "fmt"

// keys makes the keys below a prefix. They must not change.
type keys string

func (k keys) key(name string) []byte { return []byte(string(k) + "/" + name) }

func (k keys) meta() []byte  { return k.key("meta") }
func (k keys) head() []byte  { return k.key("head") }
func (k keys) first() []byte { return k.key("first") }
func (k keys) snap() []byte  { return k.key("snap") }

// earlier returns the key that is to the snapshot before the newest what snap is to the
// newest.
func (k keys) earlier() []byte { return k.key("earlier") }

// chains returns the key of the chains of trimmed entries from n on.
func (k keys) chains(n uint64) []byte { return k.key(fmt.Sprintf("chain/%016x", n)) }

// above returns the prefixes that a prefix lies below.
func (k keys) above() (list []keys) {
	for i, c := range k {
		if c == '/' {
			list = append(list, k[:i])
		}
	}
	return list
}

func (k keys) entry(n uint64) []byte { return k.key(fmt.Sprintf("log/%016x", n)) }

// parts returns the prefix of the keys of an entry's parts.
func (k keys) parts(n uint64, id [16]byte) []byte { return k.key(fmt.Sprintf("part/%016x/%x/", n, id)) }

// pieces returns the prefix of the keys of a snapshot's pieces.
func (k keys) pieces(n uint64) []byte { return k.key(fmt.Sprintf("snap/%016x/", n)) }

// nth returns the key of a part or a piece.
func nth(under []byte, i int) []byte { return fmt.Appendf(under[:len(under):len(under)], "%06x", i) }

func (k keys) place(id [8]byte) []byte { return k.key(fmt.Sprintf("line/%x", id)) }

// behind returns the end of the range of all keys with a prefix.
func behind(under []byte) []byte {
	end := append([]byte(nil), under...)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
	return []byte{0} // up to the last key of all
}

// all returns the range of everything below the prefix.
func (k keys) all() (from, end []byte) { from = k.key(""); return from, behind(from) }

func (k keys) line() (from, end []byte) { from = k.key("line/"); return from, behind(from) }

// entries returns the range of all entries from n on.
func (k keys) entries(n uint64) (from, end []byte) { return k.entry(n), behind(k.key("log/")) }
