// Package keyed stores requests with an idempotency key: the request itself as bytes that are equal
// if the requests are, and its answer as data. The answer is printed in any form, the first time
// and whenever the key is used again. Package store keeps both (Tx.Once); the command defines the
// parts of an answer.
package keyed

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"io"
	"slices"
)

// Request is what a key is bound to. The form of the answer is not part of it.
type Request struct {
	Verb   string   // "node import"
	Flags  []string // as words, --name=value, in any order; repeated ones keep theirs
	Args   []string
	Dash   int // how many arguments stood before "--", -1 without one
	Inputs *Inputs
}

// Encode returns bytes that only an equal request has.
func (q Request) Encode() []byte {
	flags := slices.Clone(q.Flags)
	slices.SortStableFunc(flags, func(a, b string) int { return bytes.Compare(flagName(a), flagName(b)) })
	var b []byte
	for _, list := range [][]string{{q.Verb}, flags, q.Args} {
		b = binary.AppendUvarint(b, uint64(len(list)))
		for _, s := range list {
			b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
		}
	}
	b = binary.AppendVarint(b, int64(q.Dash))
	return append(b, q.Inputs.sums...)
}

// flagName returns the part of a flag before its =.
func flagName(word string) []byte {
	name, _, _ := bytes.Cut([]byte(word), []byte("="))
	return name
}

// Inputs holds hashes of the contents that a request has read, in the order of reading.
type Inputs struct {
	sums []byte
}

// Add makes a text part of the request.
func (in *Inputs) Add(text string) {
	sum := sha256.Sum256([]byte(text))
	in.sums = append(in.sums, sum[:]...)
}

// Reader wraps an input. When it is closed, the content read so far becomes part of the request.
func (in *Inputs) Reader(from io.ReadCloser) io.ReadCloser {
	sum := sha256.New()
	return &hashed{io.TeeReader(from, sum), from, sum, in}
}

type hashed struct {
	io.Reader
	from io.Closer
	sum  hash.Hash
	to   *Inputs // nil once it is closed
}

func (h *hashed) Close() error {
	if h.to != nil {
		h.to.sums = h.sum.Sum(h.to.sums)
		h.to = nil
	}
	return h.from.Close()
}
