package replica

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
)

// An entry is the changes of one transaction as bytes: a head with its author, and the
// changes, table by table. Tables are identified by name, because their numbers differ between
// versions. All numbers are varints, except those of fixed length. It ends with the CRC-32C of
// everything before. On disk; must not change.

// entryVersion is the first byte of an entry. 0xff is reserved for drivers.
const entryVersion = 1

// How the changes are packed.
const (
	packedNot = iota
	packedDeflate
)

const (
	packFrom  = 4 << 10 // changes larger than this are deflated
	deltaFrom = 256     // a larger row is stored as its difference from the one before
	deltaMost = 32 << 10
	// entryMost is the limit of an entry's unpacked changes, in bytes.
	entryMost = 1 << 30
)

// Head describes the author of an entry.
type Head struct {
	Position uint64
	Log      [4]byte  // the beginning of the log's id
	Before   [8]byte  // the chain of the entry before
	ID       [16]byte // drawn at random: distinguishes the entry from others at its position
	Format   uint32   // of the file
	Version  string   // of placectl
	Host     string
	User     string
	Verb     string
	Now      int64 // the transaction's instant
}

// Kinds of changes.
const (
	opDelete = iota // of a row
	opPut           // of a row, as stored
	opChange        // of an existing row: the new one deflated, with the old one as the dictionary
)

// op is a change of a row.
type op struct {
	kind  byte
	key   []byte
	value []byte // as stored, or deflated
}

// tableChange is the changes of a table.
type tableChange struct {
	name    string
	cleared bool // all rows were removed before the changes
	ops     []op // in the order of their keys
}

// Entry is an entry of a log.
type Entry struct {
	Head
	tables []tableChange
}

// Encode makes the bytes of an entry.
func (e *Entry) Encode() ([]byte, error) {
	b := e.encodeHead()
	changes := encodeTables(e.tables)
	if len(changes) > entryMost {
		return nil, fmt.Errorf("%w: the transaction changes %d MiB of rows", ErrFull, len(changes)>>20)
	}
	if len(changes) <= packFrom {
		b = append(append(b, packedNot), changes...)
	} else {
		packed, err := deflate(changes, nil, flate.BestSpeed)
		if err != nil {
			return nil, err
		}
		b = append(binary.AppendUvarint(append(b, packedDeflate), uint64(len(changes))), packed...)
	}
	return sealEntry(b), nil
}

// sealEntry appends the checksum of an entry.
func sealEntry(b []byte) []byte {
	return binary.LittleEndian.AppendUint32(b, row.Checksum(b))
}

func (e *Entry) encodeHead() []byte {
	b := binary.AppendUvarint([]byte{entryVersion}, e.Position)
	b = append(append(append(b, e.Log[:]...), e.Before[:]...), e.ID[:]...)
	b = binary.AppendUvarint(b, uint64(e.Format))
	for _, s := range []string{e.Version, e.Host, e.User, e.Verb} {
		b = appendBytes(b, []byte(s))
	}
	return binary.AppendVarint(b, e.Now)
}

func encodeTables(tables []tableChange) []byte {
	b := binary.AppendUvarint(nil, uint64(len(tables)))
	for _, t := range tables {
		b = appendBytes(b, []byte(t.name))
		cleared := byte(0)
		if t.cleared {
			cleared = 1
		}
		b = binary.AppendUvarint(append(b, cleared), uint64(len(t.ops)))
		for _, o := range t.ops {
			b = appendBytes(append(b, o.kind), o.key)
			if o.kind != opDelete {
				b = appendBytes(b, o.value)
			}
		}
	}
	return b
}

func appendBytes(b, s []byte) []byte { return append(binary.AppendUvarint(b, uint64(len(s))), s...) }

// errEntry means that bytes are not a valid entry.
var errEntry = fmt.Errorf("%w: an entry of the log is not as it was written", row.ErrDamaged)

// errNamed marks errors that name the version to install.
var errNamed = file.Wordless(errors.New("the version to install is named"))

// DecodeHead reads the head of an entry, and verifies that its bytes are those that were
// written. It fails with file.ErrNewer if this version cannot read the rest.
func DecodeHead(b []byte) (*Head, error) {
	h, _, err := decodeHead(b)
	return h, err
}

func decodeHead(b []byte) (*Head, *row.Reader, error) {
	if len(b) < 5 {
		return nil, nil, errEntry
	}
	body, sum := b[:len(b)-4], binary.LittleEndian.Uint32(b[len(b)-4:])
	if row.Checksum(body) != sum {
		return nil, nil, errEntry
	}
	r := &row.Reader{B: body}
	if v := r.Byte(); v != entryVersion {
		return nil, nil, fmt.Errorf("%w: an entry of the log has version %d", file.ErrNewer, v)
	}
	h := &Head{Position: r.Uint()}
	copy(h.Log[:], r.Take(len(h.Log)))
	copy(h.Before[:], r.Take(len(h.Before)))
	copy(h.ID[:], r.Take(len(h.ID)))
	h.Format = uint32(r.Uint())
	h.Version, h.Host, h.User, h.Verb = string(r.Bytes()), string(r.Bytes()), string(r.Bytes()), string(r.Bytes())
	h.Now = r.Int()
	if r.Bad {
		return nil, nil, errEntry
	}
	if h.Format > row.Format {
		return h, r, fmt.Errorf("%w: entry %d of the log is of %s, and has format %d; this one knows up to %d: "+
			"install placectl %s or later%w",
			file.ErrNewer, h.Position, h.author(), h.Format, row.Format, h.Version, errNamed)
	}
	return h, r, nil
}

// author describes the author of an entry.
func (h *Head) author() string {
	return fmt.Sprintf("%s by %s on %s (placectl %s)", h.Verb, h.User, h.Host, h.Version)
}

// decodeEntry reads an entry.
func decodeEntry(b []byte) (*Entry, error) {
	h, r, err := decodeHead(b)
	if err != nil {
		return nil, err
	}
	switch r.Byte() {
	case packedNot:
	case packedDeflate:
		size := r.Uint()
		if r.Bad || size > entryMost {
			return nil, errEntry
		}
		changes, err := inflate(r.B, nil, int(size))
		if err != nil || uint64(len(changes)) != size {
			return nil, errEntry
		}
		r = &row.Reader{B: changes}
	default:
		return nil, errEntry
	}
	e := &Entry{Head: *h}
	for n := r.Count(); n > 0 && !r.Bad; n-- {
		t := tableChange{name: string(r.Bytes()), cleared: r.Byte() == 1}
		for n := r.Count(); n > 0 && !r.Bad; n-- {
			o := op{kind: r.Byte(), key: r.Bytes()}
			if o.kind != opDelete {
				o.value = r.Bytes()
			}
			r.Bad = r.Bad || o.kind > opChange
			t.ops = append(t.ops, o)
		}
		e.tables = append(e.tables, t)
	}
	if r.Bad || len(r.B) > 0 {
		return nil, errEntry
	}
	return e, nil
}

// Creating a packer or unpacker costs far more than using it on a row, so it is kept for the
// next row.
var (
	packers   = sync.Pool{New: func() any { return new(packer) }}
	unpackers = sync.Pool{New: func() any { return flate.NewReader(nil) }}
)

// keptMost is the largest buffer that a packer keeps, in bytes.
const keptMost = 1 << 20

type packer struct {
	level int
	out   bytes.Buffer
	w     *flate.Writer
}

// deflate packs bytes. Of a dictionary, the last 32 KiB count. It packs the dictionary first
// and drops that output: after a flush, it serves as a dictionary. Unlike with NewWriterDict,
// the packer can then be reused with another one.
func deflate(b, dictionary []byte, level int) ([]byte, error) {
	p := packers.Get().(*packer)
	if p.out.Reset(); p.out.Cap() > keptMost {
		p.out = bytes.Buffer{}
	}
	defer packers.Put(p)
	if p.w == nil || p.level != level {
		var err error
		if p.w, err = flate.NewWriter(&p.out, level); err != nil {
			return nil, err
		}
		p.level = level
	} else {
		p.w.Reset(&p.out)
	}
	if len(dictionary) > 0 {
		if _, err := p.w.Write(dictionary); err != nil {
			return nil, err
		}
		if err := p.w.Flush(); err != nil {
			return nil, err
		}
	}
	cut := p.out.Len()
	_, err := p.w.Write(b)
	err = errors.Join(err, p.w.Close())
	return bytes.Clone(p.out.Bytes()[cut:]), err
}

// inflate unpacks bytes, most at most.
func inflate(b, dictionary []byte, most int) ([]byte, error) {
	r := unpackers.Get().(io.ReadCloser)
	defer unpackers.Put(r)
	if err := r.(flate.Resetter).Reset(bytes.NewReader(b), dictionary); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	out.Grow(min(most, max(len(dictionary), 4*len(b))) + 2*bytes.MinRead) // a row is about as long as the one before
	_, err := io.Copy(&out, io.LimitReader(r, int64(most)+1))
	if err == nil && out.Len() > most {
		err = errEntry
	}
	return out.Bytes(), err
}

// dictionary returns the part of a row that deflate can refer back to.
func dictionary(b []byte) []byte { return b[max(0, len(b)-deltaMost):] }
