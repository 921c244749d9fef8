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
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/locality"
	"github.com/placectl/placectl/placer/fairshare"
)

// A row as a document is a line of JSON: its table, its key, and the fields of what it
// holds, those that are zero left out:
//
//	{"table":"nodes","key":7,"row":{"name":"n7","number":7,"res":[{"value":{"num":4}}]}}
//
// Numbers of keys are numbers, several of them a list, names are text, other keys are
// hexadecimal. A row that would not come back from its fields as it was stands there as
// it is encoded, as "raw" in base64: a text that is not UTF-8, say.

// document is that line.
type document struct {
	Table string          `json:"table"`
	Key   json.RawMessage `json:"key"`
	Row   json.RawMessage `json:"row"`
	Raw   []byte          `json:"raw"`
}

// content is how a row of some table becomes a value and back.
type content struct {
	fresh  func() any // a pointer to a zero value
	decode func(key, payload []byte) (any, error)
	encode func(value any) ([]byte, error)
}

// contentOf makes one of a table's functions.
func contentOf[T any](decode func(key, payload []byte) (*T, error), encode func(*T) []byte) *content {
	return &content{
		fresh:  func() any { return new(T) },
		decode: func(key, payload []byte) (any, error) { return decode(key, payload) },
		encode: func(v any) ([]byte, error) { return encode(v.(*T)), nil },
	}
}

// byValue is a function that returns a value as one that returns a pointer.
func byValue[T any](decode func(key, payload []byte) (T, error)) func(key, payload []byte) (*T, error) {
	return func(key, payload []byte) (*T, error) {
		v, err := decode(key, payload)
		return &v, err
	}
}

var textContent = contentOf(func(_, payload []byte) (*string, error) {
	s := DecodeText(payload)
	return &s, nil
}, func(s *string) []byte { return EncodeText(*s) })

var stateContent = contentOf(func(_, payload []byte) (*State, error) {
	s := new(State)
	return s, s.Decode(payload)
}, (*State).Encode)

// identityFields are what goes along of what tells a file from others: an epoch is drawn
// for each.
type identityFields struct {
	ID      string
	AnyTime bool
}

var identityContent = &content{
	fresh: func() any { return new(identityFields) },
	decode: func(_, payload []byte) (any, error) {
		var id Identity
		err := id.Decode(payload)
		return &identityFields{id.String(), id.AnyTime}, err
	},
	encode: func(value any) ([]byte, error) {
		fields := value.(*identityFields)
		id := Identity{AnyTime: fields.AnyTime}
		digits, err := hex.DecodeString(fields.ID)
		if err != nil || len(digits) != len(id.ID) {
			return nil, fmt.Errorf("%q is no id: it has %d hexadecimal digits", fields.ID, 2*len(id.ID))
		}
		copy(id.ID[:], digits)
		return id.Encode(), nil
	},
}

var replicaContent = contentOf(func(_, payload []byte) (*Replica, error) {
	r := new(Replica)
	return r, r.Decode(payload)
}, func(r *Replica) []byte { return r.Encode() })

var hookContent = contentOf(func(_, payload []byte) (*Hook, error) { return DecodeHook(payload) }, EncodeHook)

var (
	refusedContent   = contentOf(DecodeRefused, EncodeRefused)
	postponedContent = contentOf(func(_, payload []byte) (*Postponed, error) { return DecodePostponed(payload) }, EncodePostponed)
	beatContent      = contentOf(DecodeBeat, EncodeBeat)
	lastCycleContent = contentOf(DecodeLastCycle, EncodeLastCycle)
)

// jobContent are those of Jobs and Stops. A job has as many chunks as its row says, even
// if that is none.
var jobContent = contentOf(DecodeJob, EncodeJob)

var shareContents = map[string]*content{
	string(KeyShareSettings): contentOf(func(_, payload []byte) (*fairshare.Settings, error) { return DecodeShareSettings(payload) }, EncodeShareSettings),
	string(KeyShareState): contentOf(byValue(func(_, payload []byte) (fairshare.Timer, error) { return DecodeShareTimer(payload) }),
		func(t *fairshare.Timer) []byte { return EncodeShareTimer(*t) }),
}

var freedContent = contentOf(func(_, payload []byte) (*Freed, error) { return DecodeFreed(payload) }, EncodeFreed)

// oldContent is those of rows that older versions have left, and nobody reads any more.
var oldContent = &content{
	fresh:  func() any { return new([]byte) },
	decode: func(_, payload []byte) (any, error) { p := bytes.Clone(payload); return &p, nil },
	encode: func(value any) ([]byte, error) { return *value.(*[]byte), nil },
}

// contents are those of the tables whose rows are all alike.
var contents = map[Table]*content{
	Config:       textContent,
	Resources:    contentOf(byValue(DecodeResource), func(d *index.Def) []byte { return EncodeResource(*d) }),
	Queues:       contentOf(byValue(DecodeQueue), func(q *Queue) []byte { return EncodeQueue(*q) }),
	Nodes:        contentOf(DecodeNode, EncodeNode),
	Jobs:         jobContent,
	Stops:        jobContent,
	Reservations: contentOf(DecodeReservation, EncodeReservation),
	Standings:    contentOf(DecodeStanding, EncodeStanding),
	Usage:        contentOf(byValue(DecodeUsage), EncodeUsage),
	Events:       contentOf(DecodeEvent, EncodeEvent),
	Keys: contentOf(func(key, payload []byte) (*uint64, error) {
		n, ok := DecodeNumber64(payload)
		if !ok {
			return nil, fmt.Errorf("%w: key %q leads nowhere", ErrDamaged, key)
		}
		return &n, nil
	}, func(n *uint64) []byte { return EncodeNumber64(*n) }),
	Decided:     oldContent,
	Batches:     contentOf(DecodeBatch, EncodeBatch),
	BatchFiles:  contentOf(byValue(DecodeBatchFiles), func(f *[]BatchFile) []byte { return EncodeBatchFiles(*f) }),
	BatchJobs:   contentOf(DecodeBatchJobs, EncodeBatchJobs),
	BatchTasks:  contentOf(DecodeBatchTasks, EncodeBatchTasks),
	BatchHosts:  contentOf(DecodeMember, EncodeMember),
	BatchRanges: contentOf(DecodeRange, EncodeRange),
	Answers: {
		fresh:  func() any { return new(Answer) },
		decode: func(key, payload []byte) (any, error) { return DecodeAnswerText(key, payload) },
		encode: func(value any) ([]byte, error) { return value.(*Answer).Encode() },
	},
	Payloads:  contentOf(DecodePayload, EncodePayload),
	Attempts:  contentOf(DecodeAttempt, EncodeAttempt),
	Counters:  contentOf(DecodeCounter, EncodeCounter),
	Preempts:  contentOf(DecodePreempt, EncodePreempt),
	Gone:      contentOf(DecodeTotal, EncodeTotal),
	Decays:    contentOf(DecodeDecayed, EncodeDecayed),
	NodePasts: contentOf(DecodeNodePast, EncodeNodePast),
	Numbers:   contentOf(func(key, payload []byte) (*int64, error) { return DecodeNumber(key, payload) }, func(n *int64) []byte { return EncodeNumber(*n) }),
	Accounts:  contentOf(DecodeAccount, EncodeAccount),
	Tallies:   contentOf(DecodeTally, EncodeTally),
	Views:     contentOf(DecodeView, EncodeView),
	Limits:    contentOf(DecodeLimit, EncodeLimit),
	Claims:    contentOf(DecodeClaim, EncodeClaim),
	Roles:     textContent,
	Hosts:     contentOf(DecodeHost, func(h *locality.Host) []byte { return EncodeHost(h) }),
}

// contentAt finds how the row of a key is read and written, nil where none is.
func contentAt(t Table, key []byte) *content {
	switch {
	case t == Meta && string(key) == string(KeyState):
		return stateContent
	case t == Meta && string(key) == string(KeyArchive):
		return textContent
	case t == Meta && string(key) == string(KeyIdentity):
		return identityContent
	case t == Meta && string(key) == string(KeyHook):
		return hookContent
	case t == Meta && string(key) == string(KeyPostponed):
		return postponedContent
	case t == Meta && string(key) == string(KeyReplica):
		return replicaContent
	case t == Meta && isRefusedKey(key):
		return refusedContent
	case t == Meta && isBeatKey(key):
		return beatContent
	case t == Tallies && string(key) == string(KeyLastCycle):
		return lastCycleContent
	case t == Shares:
		return shareContents[string(key)]
	case t == Invalidations && string(key) == string(KeyFreed):
		return freedContent
	case t == Invalidations:
		return oldContent
	}
	return contents[t]
}

// Readable verifies that a row can be decoded, as far as this version knows it.
func Readable(t Table, key, payload []byte) error {
	c := contentAt(t, key)
	if c == nil {
		return fmt.Errorf("%w: table %s has no row %x", ErrDamaged, t, key)
	}
	_, err := c.decode(key, payload)
	return err
}

// keyParts are the widths in bytes of the numbers that a key is made of; nil is a name.
var keyParts = map[Table][]int{
	Resources: {2}, Nodes: {4}, Jobs: {8}, Usage: {4}, Events: {8}, Stops: {8}, Hosts: {4},
	BatchFiles: {4, 4}, BatchJobs: {4, 4}, BatchTasks: {4, 4}, BatchHosts: {4, 4}, BatchRanges: {4, 8},
	Decided: {}, Invalidations: {}, Payloads: {}, Attempts: {8, 4}, NodePasts: {8, 8},
}

// AppendDocument appends a row as a document, with the line's end.
func AppendDocument(b []byte, t Table, key, payload []byte) ([]byte, error) {
	c := contentAt(t, key)
	if c == nil {
		return nil, fmt.Errorf("%w: table %s has no row %x", ErrDamaged, t, key)
	}
	value, err := c.decode(key, payload)
	if err != nil {
		return nil, err
	}
	b = append(append(b, `{"table":"`...), t.String()...)
	b = appendKey(append(b, `","key":`...), t, key)
	before := len(b)
	b = appendFields(append(b, `,"row":`...), reflect.ValueOf(value).Elem())
	if _, back, err := c.read(b[before+len(`,"row":`):]); err == nil {
		if want, err := c.encode(value); err == nil && bytes.Equal(back, want) {
			return append(b, "}\n"...), nil
		}
	}
	b = append(b[:before], `,"raw":"`...)
	return append(base64.StdEncoding.AppendEncode(b, payload), "\"}\n"...), nil
}

// read reads a row's fields.
func (c *content) read(fields []byte) (value any, payload []byte, err error) {
	value = c.fresh()
	d := json.NewDecoder(bytes.NewReader(fields))
	d.DisallowUnknownFields()
	if err := d.Decode(value); err != nil {
		return nil, nil, err
	}
	payload, err = c.encode(value)
	return value, payload, err
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
		return 0, nil, nil, errors.New("there is something behind the document")
	}
	t, ok := TableNamed(doc.Table)
	if !ok || t.Derived() {
		return 0, nil, nil, fmt.Errorf("there is no table %q whose rows are loaded", doc.Table)
	}
	if key, err = readKey(t, doc.Key); err != nil {
		return 0, nil, nil, err
	}
	c := contentAt(t, key)
	switch {
	case c == nil:
		return 0, nil, nil, fmt.Errorf("table %s has no row of the key %s", t, doc.Key)
	case (doc.Row == nil) == (doc.Raw == nil):
		return 0, nil, nil, errors.New(`it is to have "row", or "raw"`)
	case doc.Raw != nil:
		err = c.readRaw(key, doc.Raw)
		return t, key, doc.Raw, err
	}
	payload, err = c.readRow(key, doc.Row)
	return t, key, payload, err
}

// readRow is the payload of a row's fields. What they say has to be what a row of that key
// holds, neither more nor less.
func (c *content) readRow(key []byte, fields json.RawMessage) ([]byte, error) {
	said, payload, err := c.read(fields)
	if err != nil {
		return nil, err
	}
	holds, err := c.decode(key, payload)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(fieldsOf(said), fieldsOf(holds)) {
		return nil, fmt.Errorf("the row would hold %s", fieldsOf(holds))
	}
	return payload, nil
}

// readRaw verifies a payload.
func (c *content) readRaw(key, payload []byte) error {
	if len(payload) == 0 {
		return errors.New("the row is empty")
	}
	_, err := c.decode(key, payload)
	return err
}

func fieldsOf(value any) []byte { return appendFields(nil, reflect.ValueOf(value).Elem()) }

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
		return appendText(b, string(key))
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
	wrong := fmt.Errorf("%s is no key of table %s", text, t)
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
