package etcd

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/placectl/placectl/internal/replica"
)

// The values of keys. Numbers are big-endian, with a fixed length. They must not change.

const (
	metaName    = "placectl-log"
	metaVersion = 1
	snapVersion = 1
	// inParts begins a stub, which replaces an entry in parts. Entries begin with their
	// version, which never has this value.
	inParts = 0xff
)

// errForeign means that a key has a value that this version cannot read.
var errForeign = errors.New("there is something other than a log, or one of a newer placectl")

func encodeMeta(id replica.ID, made time.Time) []byte {
	b := append([]byte(metaName), metaVersion)
	b = append(b, id[:]...)
	return binary.BigEndian.AppendUint64(b, uint64(made.Unix()))
}

func decodeMeta(b []byte) (id replica.ID, err error) {
	const head = len(metaName) + 1
	if len(b) != head+16+8 || string(b[:len(metaName)]) != metaName || b[len(metaName)] != metaVersion {
		return id, fmt.Errorf("meta: %w", errForeign)
	}
	return replica.ID(b[head : head+16]), nil
}

func encodeFirst(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

func decodeFirst(b []byte) (uint64, error) {
	if len(b) != 8 {
		return 0, fmt.Errorf("first: %w", errForeign)
	}
	return binary.BigEndian.Uint64(b), nil
}

// newest is the value of snap, which describes the newest snapshot.
type newest struct {
	at     replica.Position
	make   [4]byte // drawn by the writer, so that the pieces of two concurrent writers do not mix
	pieces uint32
	bytes  uint64
	format uint32
	sum    [sha256.Size]byte
}

func (s newest) encode() []byte {
	b := append([]byte{snapVersion}, s.at.Bytes()...)
	b = append(b, s.make[:]...)
	b = binary.BigEndian.AppendUint32(b, s.pieces)
	b = binary.BigEndian.AppendUint64(b, s.bytes)
	b = binary.BigEndian.AppendUint32(b, s.format)
	return append(b, s.sum[:]...)
}

func decodeNewest(b []byte) (s newest, err error) {
	const length = 1 + 16 + 4 + 4 + 8 + 4 + sha256.Size
	if len(b) != length || b[0] != snapVersion {
		return s, fmt.Errorf("snap: %w", errForeign)
	}
	s.at, _ = replica.ParsePosition(b[1:17])
	s.make = [4]byte(b[17:21])
	s.pieces = binary.BigEndian.Uint32(b[21:])
	s.bytes = binary.BigEndian.Uint64(b[25:])
	s.format = binary.BigEndian.Uint32(b[33:])
	s.sum = [sha256.Size]byte(b[37:])
	return s, nil
}

// stub replaces an entry that is in parts.
type stub struct {
	id    [16]byte
	parts uint32
	bytes uint64
}

func (s stub) encode() []byte {
	b := append([]byte{inParts}, s.id[:]...)
	b = binary.BigEndian.AppendUint32(b, s.parts)
	return binary.BigEndian.AppendUint64(b, s.bytes)
}

// decodeStub reads a stub. ok is false for an entry that is not in parts.
func decodeStub(b []byte) (s stub, ok bool) {
	if len(b) != 1+16+4+8 || b[0] != inParts {
		return s, false
	}
	s.id = [16]byte(b[1:17])
	s.parts = binary.BigEndian.Uint32(b[17:])
	s.bytes = binary.BigEndian.Uint64(b[21:])
	return s, true
}
