package row

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
)

// PayloadKey is the key of a row of the table Payloads: a hash of what the row holds, but
// for the number of jobs that name it. So jobs that carry the same name the same row. The
// zero key is that of a job that carries nothing.
type PayloadKey [16]byte

// String is the key in hexadecimal.
func (k PayloadKey) String() string { return hex.EncodeToString(k[:]) }

// Compare orders keys as the file does.
func (k PayloadKey) Compare(other PayloadKey) int { return bytes.Compare(k[:], other[:]) }

// MarshalText writes the key as dumps have it.
func (k PayloadKey) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads it.
func (k *PayloadKey) UnmarshalText(text []byte) error {
	if hex.DecodedLen(len(text)) != len(k) {
		return fmt.Errorf("%q is not %d hexadecimal digits", text, hex.EncodedLen(len(k)))
	}
	_, err := hex.Decode(k[:], text)
	return err
}

// Payload is what a job carries besides its request and its command: what is run, and in
// which surroundings.
type Payload struct {
	Jobs        uint64 // how many jobs name the row: the last one that goes takes it along
	Script      string
	Interpreter string // runs the script in place of what its #! line names
	Dir         string
	Umask       uint32
	Env         []string // NAME=VALUE
	Limits      []ResourceLimit
	Out         string // patterns of names of files
	Err         string
	Append      bool // to output that is there, by the first attempt too
	Compat      string
	Variables   []string // NAME=VALUE, what the directives said that only their family asks for

	Input  string     // a pattern, too
	Owner  *Submitter // nil in rows of formats before 6
	Ending Ending
}

// Submitter is who submitted, and where.
type Submitter struct {
	UID  uint32
	Name string
	Host string
}

// Ending is how a job's attempts are ended, what follows one that has failed, and who is
// told. Durations are seconds.
type Ending struct {
	Retries   int    // how many attempts may follow one that has failed
	RetryOn   string // after which outcomes; "" for the default
	RetryWait int64  // before the first, doubled each time
	Signal    int    // sent so long before the end; 0 for none
	Before    int64
	First     bool  // to its first process alone
	Grace     int64 // between being told to terminate and being killed; negative for none at all, 0 for the default
	Mail      string
	MailTo    string
}

// ResourceLimit is a limit of the kernel for a process. NoLimit stands for none.
type ResourceLimit struct {
	Name       string
	Soft, Hard uint64
}

// NoLimit is the value of a limit that is none. On disk; must not change.
const NoLimit = ^uint64(0)

const payloadVersion = 1

// EncodePayload is the row of a payload.
func EncodePayload(p *Payload) []byte {
	e := encoder{b: make([]byte, 0, len(p.Script)+256)}
	e.byte(payloadVersion)
	e.uint(p.Jobs)
	for _, s := range []string{p.Script, p.Interpreter, p.Dir} {
		e.string(s)
	}
	e.uint(uint64(p.Umask))
	e.strings(p.Env)
	e.uint(uint64(len(p.Limits)))
	for _, l := range p.Limits {
		e.string(l.Name)
		e.uint(l.Soft)
		e.uint(l.Hard)
	}
	e.string(p.Out)
	e.string(p.Err)
	e.bool(p.Append)
	e.string(p.Compat)
	e.strings(p.Variables)
	if p.Input == "" && p.Owner == nil && p.Ending == (Ending{}) {
		return e.b
	}
	e.bool(p.Owner != nil)
	if o := p.Owner; o != nil {
		e.uint(uint64(o.UID))
		e.string(o.Name)
		e.string(o.Host)
	}
	x := p.Ending
	for _, n := range []int64{int64(x.Retries), x.RetryWait, int64(x.Signal), x.Before, x.Grace} {
		e.int(n)
	}
	for _, s := range []string{x.RetryOn, x.Mail, x.MailTo} {
		e.string(s)
	}
	e.bool(x.First)
	e.string(p.Input)
	return e.b
}

// DecodePayload reads it.
func DecodePayload(key, payload []byte) (*Payload, error) {
	d := decoder{b: payload}
	d.byte()
	p := &Payload{Jobs: d.uint(), Script: d.string(), Interpreter: d.string(), Dir: d.string(), Umask: uint32(d.uint()), Env: d.strings()}
	if n := d.count(); n > 0 {
		p.Limits = make([]ResourceLimit, n)
	}
	for i := range p.Limits {
		p.Limits[i] = ResourceLimit{Name: d.string(), Soft: d.uint(), Hard: d.uint()}
	}
	p.Out, p.Err, p.Append, p.Compat, p.Variables = d.string(), d.string(), d.byte() != 0, d.string(), d.strings()
	if len(d.b) > 0 {
		p.decodeEnding(&d)
	}
	return p, d.done(Payloads, key)
}

func (p *Payload) decodeEnding(d *decoder) {
	if d.byte() != 0 {
		p.Owner = &Submitter{UID: uint32(d.uint()), Name: d.string(), Host: d.string()}
	}
	p.Ending = Ending{Retries: int(d.int()), RetryWait: d.int(), Signal: int(d.int()), Before: d.int(), Grace: d.int(),
		RetryOn: d.string(), Mail: d.string(), MailTo: d.string()}
	if len(d.b) > 0 {
		p.Ending.First, p.Input = d.byte() != 0, d.string()
	}
}

// HashPayload is the key of a row. What is hashed is the row as it is encoded, so that a
// version that writes more fields gives the rows of older ones no other keys.
func HashPayload(payload []byte) (k PayloadKey, err error) {
	sum, err := SumPayload(payload)
	copy(k[:], sum[:])
	return k, err
}

// SumPayload is the whole hash; the key is its beginning.
func SumPayload(payload []byte) (sum [sha256.Size]byte, err error) {
	_, content, err := splitPayload(payload)
	if err == nil {
		sum = sha256.Sum256(content)
	}
	return sum, err
}

// PayloadJobs is how many jobs name a row.
func PayloadJobs(payload []byte) (uint64, error) {
	jobs, _, err := splitPayload(payload)
	return jobs, err
}

// RecountPayload is the row with another number of jobs.
func RecountPayload(payload []byte, jobs uint64) ([]byte, error) {
	_, content, err := splitPayload(payload)
	if err != nil {
		return nil, err
	}
	b := make([]byte, 0, len(content)+binary.MaxVarintLen64+1)
	b = binary.AppendUvarint(append(b, payload[0]), jobs)
	return append(b, content...), nil
}

// splitPayload parts the number of jobs, behind the version, from the rest.
func splitPayload(payload []byte) (jobs uint64, content []byte, err error) {
	d := decoder{b: payload}
	d.byte()
	jobs = d.uint()
	return jobs, d.b, d.done(Payloads, nil)
}

// EachPayload goes through the jobs of each payload by key, those that carry nothing left out.
func EachPayload(jobs map[PayloadKey]uint64, fn func(key PayloadKey, jobs uint64) error) error {
	delete(jobs, PayloadKey{})
	for _, key := range slices.SortedFunc(maps.Keys(jobs), PayloadKey.Compare) {
		if err := fn(key, jobs[key]); err != nil {
			return err
		}
	}
	return nil
}

// Missing is an ErrDamaged: jobs name what they carry, and it is not there.
func (k PayloadKey) Missing() error {
	return fmt.Errorf("%w: what a job carries, %s, is missing", ErrDamaged, k)
}
