package row

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// A row as a document is a line of JSON with its table, its key and its fields, except those
// that are zero:
//
//	{"table":"nodes","key":7,"row":{"name":"n7","number":7,"res":[{"value":{"num":4}}]}}
//
// A key is a number, a list of numbers, a name as text, or otherwise hexadecimal. A row that
// its fields would not give back exactly, for example because a text is not UTF-8, is written
// as encoded, as "raw" in base64.

// document is such a line.
type document struct {
	Table string          `json:"table"`
	Key   json.RawMessage `json:"key"`
	Row   json.RawMessage `json:"row"`
	Raw   []byte          `json:"raw"`
}

// Rewind returns a row with its instants set back, or nil if none changes.
func Rewind(t Table, key, payload []byte, to Rewound) ([]byte, error) {
	k := kindAt(t, key)
	if k == nil {
		return nil, nil
	}
	v, err := decode(t, k, key, payload)
	if err != nil || !v.rewind(to) {
		return nil, err
	}
	return v.written(), nil
}

// Move moves the instants of a row by a number of seconds.
func Move(t Table, key, payload []byte, by int64) (movedKey, moved []byte, err error) {
	if t == NodePasts {
		at, number := SplitTimeKey(key)
		key = TimeKey(at+by, number)
	}
	moved, err = Rewind(t, key, payload, Rewound{by: by})
	if moved == nil {
		moved = payload
	}
	return key, moved, err
}

// Readable verifies that a row can be decoded, as far as this version knows it.
func Readable(t Table, key, payload []byte) error {
	k := kindAt(t, key)
	if k == nil {
		return fmt.Errorf("%w: table %s has no row %x", ErrDamaged, t, key)
	}
	_, err := decode(t, k, key, payload)
	return err
}

// keyParts holds the widths, in bytes, of the numbers that a key consists of; nil means a
// name.
var keyParts = map[Table][]int{
	Resources: {2}, Nodes: {4}, Jobs: {8}, Usage: {4}, Events: {8}, Stops: {8}, Hosts: {4},
	BatchFiles: {4, 4}, BatchJobs: {4, 4}, BatchTasks: {4, 4}, BatchHosts: {4, 4}, BatchRanges: {4, 8},
	Invalidations: {}, Payloads: {}, Attempts: {8, 4}, NodePasts: {8, 8}, PastRuns: {8},
}

// AppendDocument appends a row as a document, including the end of the line.
func AppendDocument(b []byte, t Table, key, payload []byte) ([]byte, error) {
	k := kindAt(t, key)
	if k == nil {
		return nil, fmt.Errorf("%w: table %s has no row %x", ErrDamaged, t, key)
	}
	b = append(append(b, `{"table":"`...), t.String()...)
	b = appendKey(append(b, `","key":`...), t, key)
	v, err := decode(t, k, key, payload)
	if err != nil {
		return nil, err
	}
	text := v.json()
	if again, err := readJSON(k, text); err == nil && bytes.Equal(again.written(), v.written()) {
		return append(append(append(b, `,"row":`...), text...), "}\n"...), nil
	}
	b = append(b, `,"raw":"`...)
	return append(base64.StdEncoding.AppendEncode(b, payload), "\"}\n"...), nil
}

// ReadDocument reads such a line.
func ReadDocument(line []byte) (t Table, key, payload []byte, err error) {
	var doc document
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&doc); err != nil {
		return 0, nil, nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return 0, nil, nil, errors.New("text follows the document")
	}
	t, ok := TableNamed(doc.Table)
	if !ok || t.Derived() {
		return 0, nil, nil, fmt.Errorf("there is no table %q whose rows are loaded", doc.Table)
	}
	if key, err = readKey(t, doc.Key); err != nil {
		return 0, nil, nil, err
	}
	k := kindAt(t, key)
	switch {
	case k == nil:
		return 0, nil, nil, fmt.Errorf("table %s has no row of the key %s", t, doc.Key)
	case (doc.Row == nil) == (doc.Raw == nil):
		return 0, nil, nil, errors.New(`it must have "row" or "raw"`)
	case doc.Raw == nil:
		payload, err = documented(t, k, key, doc.Row)
	case len(doc.Raw) == 0:
		err = errors.New("the row is empty")
	default:
		payload, err = doc.Raw, Readable(t, key, doc.Raw)
	}
	return t, key, payload, err
}

// documented returns the row that the fields of a document make.
func documented(t Table, k kind, key, text []byte) ([]byte, error) {
	v, err := readJSON(k, text)
	if err != nil {
		return nil, err
	}
	payload := v.written()
	holds, err := decode(t, k, key, payload)
	if err != nil {
		return nil, err
	}
	if text := holds.json(); !bytes.Equal(v.json(), text) {
		return nil, fmt.Errorf("the row would hold %s", text)
	}
	return payload, nil
}

// hexadecimal begins a key that is neither numbers nor a name.
const hexadecimal = "hex:"

// appendKey writes a key.
func appendKey(b []byte, t Table, key []byte) []byte {
	parts, numbered := keyParts[t]
	size := 0
	for _, n := range parts {
		size += n
	}
	switch {
	case !numbered && utf8.Valid(key) && !bytes.HasPrefix(key, []byte(hexadecimal)):
		return appendJSON(b, string(key))
	case len(parts) == 0 || size != len(key):
		return append(hex.AppendEncode(append(append(b, '"'), hexadecimal...), key), '"')
	}
	if len(parts) > 1 {
		b = append(b, '[')
	}
	for i, n := range parts {
		if i > 0 {
			b = append(b, ',')
		}
		var wide [8]byte
		copy(wide[8-n:], key[:n])
		b, key = fmt.Append(b, binary.BigEndian.Uint64(wide[:])), key[n:]
	}
	if len(parts) > 1 {
		b = append(b, ']')
	}
	return b
}

// readKey reads it.
func readKey(t Table, text json.RawMessage) (key []byte, err error) {
	wrong := fmt.Errorf("%s is not a key of table %s", text, t)
	parts, numbered := keyParts[t]
	if len(text) > 0 && text[0] == '"' {
		var name string
		if err := json.Unmarshal(text, &name); err != nil {
			return nil, wrong
		}
		if digits, ok := strings.CutPrefix(name, hexadecimal); ok {
			key, err = hex.DecodeString(digits)
		} else if key = []byte(name); numbered {
			return nil, wrong
		}
		if err != nil || len(key) == 0 {
			return nil, wrong
		}
		return key, nil
	}
	if !numbered || len(parts) == 0 {
		return nil, wrong
	}
	numbers := make([]uint64, 1)
	if len(parts) > 1 {
		err = json.Unmarshal(text, &numbers)
	} else {
		err = json.Unmarshal(text, &numbers[0])
	}
	if err != nil || len(numbers) != len(parts) {
		return nil, wrong
	}
	for i, n := range parts {
		if n < 8 && numbers[i]>>(8*n) != 0 {
			return nil, wrong
		}
		key = append(key, Key64(numbers[i])[8-n:]...)
	}
	return key, nil
}
