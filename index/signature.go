package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// Signature holds the values of a node's signature resources, canonically encoded: two nodes
// have the same signature exactly if the bytes are equal. Each value is the resource number,
// then the number or the length and bytes of the word. A false boolean is omitted, as if
// unset. The encoding is on disk and must not change.
type Signature string

// signatureSet says which resources are part of signatures.
type signatureSet []bool

func newSignatureSet(ids []ResID) signatureSet {
	var s signatureSet
	for _, id := range ids {
		for int(id) >= len(s) {
			s = append(s, false)
		}
		s[id] = true
	}
	return s
}

func (s signatureSet) has(id ResID) bool { return int(id) < len(s) && s[id] }

// DefaultSignature lists the resources that are in a signature by default: all but unique ones
// and those that requests do not ask nodes for.
func (d *Defs) DefaultSignature() []ResID {
	var ids []ResID
	for _, def := range d.list {
		if d.MaySign(def) {
			ids = append(ids, def.ID)
		}
	}
	return ids
}

// MaySign reports whether a resource may be part of a signature.
func (d *Defs) MaySign(def Def) bool { return !def.Unique && !def.Directive }

// appendSignature appends the node's signature.
func (ix *Index) appendSignature(b []byte, n *Node) []byte {
	for i := range n.Res {
		a := &n.Res[i]
		if !ix.signed.has(a.Res) {
			continue
		}
		if ix.textual(a.Res) {
			b = binary.AppendUvarint(b, uint64(a.Res))
			b = binary.AppendUvarint(b, uint64(len(a.Value.Str)))
			b = append(b, a.Value.Str...)
		} else if a.Value.Num != 0 || !ix.boolean(a.Res) {
			b = binary.AppendUvarint(b, uint64(a.Res))
			b = binary.AppendUvarint(b, uint64(a.Value.Num))
		}
	}
	return b
}

// ErrSignature says that the signature of a bucket is invalid: the bucket is damaged.
var ErrSignature = errors.New("bad signature")

// decodeSignature reads what appendSignature writes.
func (ix *Index) decodeSignature(s Signature) ([]Amount, error) {
	bad := fmt.Errorf("%w %x", ErrSignature, string(s))
	var out []Amount
	for b := []byte(s); len(b) > 0; {
		id, n := binary.Uvarint(b)
		if n <= 0 {
			return nil, bad
		}
		num, m := binary.Uvarint(b[n:])
		if m <= 0 {
			return nil, bad
		}
		b = b[n+m:]
		a := Amount{Res: ResID(id)}
		def, ok := ix.defs.Get(a.Res)
		if !ok {
			return nil, bad
		}
		if def.Type == String || def.Type == StringArray {
			if num > uint64(len(b)) {
				return nil, bad
			}
			a.Value.Str, b = string(b[:num]), b[num:]
		} else {
			a.Value.Num = int64(num)
		}
		out = append(out, a)
	}
	return out, nil
}

// Describe writes a bucket's signature as name=value:name=value in declared order, as OpenPBS
// names its buckets; queue and priority are apart. It has all booleans, and other resources if
// they are set.
func (ix *Index) Describe(b *Bucket) string {
	var parts []string
	for _, def := range ix.defs.All() {
		v, ok := b.Get(def.ID)
		if ok || def.Type == Boolean && ix.signed.has(def.ID) {
			parts = append(parts, def.Name+"="+def.Format(v))
		}
	}
	return strings.Join(parts, ":")
}

// hash64 is FNV-1a (Fowler, Noll, Vo): stable, so it may be on disk.
func hash64(b []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range b {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}
