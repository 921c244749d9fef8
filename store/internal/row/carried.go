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

// String returns the key in hexadecimal.
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

// Ending says how a job's attempts are ended, what follows a failed one, and who gets mail about
// it. Durations are seconds.
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
	RetryMem  int   // after oom it asks for so many percent of the memory that it asked for; 0 for as much
	RetryMax  int64 // and for at most so many KiB a chunk; 0: what the largest node has
}

// ResourceLimit is a limit of the kernel for a process. NoLimit stands for none.
type ResourceLimit struct {
	Name       string
	Soft, Hard uint64
}

// NoLimit is the value of a limit that is none. On disk; must not change.
const NoLimit = ^uint64(0)

const payloadVersion = 1

func payloadFields(f *Fields, p *Payload) {
	f.Version(payloadVersion)
	Uint(f, "jobs", &p.Jobs)
	f.Text("script", &p.Script)
	f.Text("interpreter", &p.Interpreter)
	f.Text("dir", &p.Dir)
	Uint(f, "umask", &p.Umask)
	f.Texts("env", &p.Env)
	for i := range Items(f, "limits", &p.Limits) {
		l := &p.Limits[i]
		f.Text("name", &l.Name)
		Uint(f, "soft", &l.Soft)
		Uint(f, "hard", &l.Hard)
		f.Next()
	}
	f.Text("out", &p.Out)
	f.Text("err", &p.Err)
	f.Bool("append", &p.Append)
	f.Text("compat", &p.Compat)
	f.Texts("variables", &p.Variables)
	if !f.More(p.Input != "" || p.Owner != nil || p.Ending != (Ending{})) {
		return
	}
	owned := p.Owner != nil
	if f.bytes() {
		f.Bool("", &owned)
	}
	if Part(f, "owner", &p.Owner, owned) {
		Uint(f, "uid", &p.Owner.UID)
		f.Text("name", &p.Owner.Name)
		f.Text("host", &p.Owner.Host)
		f.End()
	}
	x := &p.Ending
	Int(f, "ending.retries", &x.Retries)
	Int(f, "ending.retryWait", &x.RetryWait)
	Int(f, "ending.signal", &x.Signal)
	Int(f, "ending.before", &x.Before)
	Int(f, "ending.grace", &x.Grace)
	f.Text("ending.retryOn", &x.RetryOn)
	f.Text("ending.mail", &x.Mail)
	f.Text("ending.mailTo", &x.MailTo)
	if f.More(true) {
		f.Bool("ending.first", &x.First)
		f.Text("input", &p.Input)
	}
	if f.More(x.RetryMem != 0 || x.RetryMax != 0) {
		Int(f, "ending.retryMem", &x.RetryMem)
		Int(f, "ending.retryMax", &x.RetryMax)
	}
}

// EncodePayload returns the row of a payload.
func EncodePayload(p *Payload) []byte { return encode(payloadFields, p) }

// DecodePayload reads it.
func DecodePayload(key, payload []byte) (*Payload, error) {
	return decode(Payloads, payloadFields, key, payload)
}

// HashPayload returns the key of a row. What is hashed is the row as it is encoded, so that a
// version that writes more fields gives the rows of older ones no other keys.
func HashPayload(payload []byte) (k PayloadKey, err error) {
	sum, err := SumPayload(payload)
	copy(k[:], sum[:])
	return k, err
}

// SumPayload returns the whole hash; the key is its beginning.
func SumPayload(payload []byte) (sum [sha256.Size]byte, err error) {
	_, content, err := splitPayload(payload)
	if err == nil {
		sum = sha256.Sum256(content)
	}
	return sum, err
}

// PayloadJobs returns how many jobs name a row.
func PayloadJobs(payload []byte) (uint64, error) {
	jobs, _, err := splitPayload(payload)
	return jobs, err
}

// RecountPayload returns the row with another number of jobs.
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
	d := Reader{B: payload}
	d.Byte()
	jobs = d.Uint()
	return jobs, d.B, d.done(Payloads, nil)
}

// EachPayload calls fn for the jobs of each payload by key, those that carry nothing left out.
func EachPayload(jobs map[PayloadKey]uint64, fn func(key PayloadKey, jobs uint64) error) error {
	delete(jobs, PayloadKey{})
	for _, key := range slices.SortedFunc(maps.Keys(jobs), PayloadKey.Compare) {
		if err := fn(key, jobs[key]); err != nil {
			return err
		}
	}
	return nil
}

// Missing returns an ErrDamaged: jobs name what they carry, and it is not there.
func (k PayloadKey) Missing() error {
	return fmt.Errorf("%w: what a job carries, %s, is missing", ErrDamaged, k)
}
