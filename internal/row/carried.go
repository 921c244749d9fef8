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

// PayloadKey is the key of a row of the table Payloads: a hash of the row without the number
// of jobs that name it. So jobs with equal payloads name the same row. The zero key is that of
// a job without a payload.
type PayloadKey [16]byte

// String returns the key in hexadecimal.
func (k PayloadKey) String() string { return hex.EncodeToString(k[:]) }

// Compare orders keys as the file does.
func (k PayloadKey) Compare(other PayloadKey) int { return bytes.Compare(k[:], other[:]) }

// MarshalText writes the key as in dumps.
func (k PayloadKey) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (k *PayloadKey) UnmarshalText(text []byte) error {
	if hex.DecodedLen(len(text)) != len(k) {
		return fmt.Errorf("%q is not %d hexadecimal digits", text, hex.EncodedLen(len(k)))
	}
	_, err := hex.Decode(k[:], text)
	return err
}

// Payload is what a job carries besides its request and its command: what it runs, and its
// environment.
type Payload struct {
	Jobs        uint64 // number of jobs that name the row: it is deleted with the last one
	Script      string
	Interpreter string // runs the script instead of the program in its #! line
	Dir         string
	Umask       uint32
	Env         []string // NAME=VALUE
	Limits      []ResourceLimit
	Out         string // a pattern of file names
	Err         string
	Append      bool // the first attempt, too, appends to existing output
	Compat      string
	Variables   []string // NAME=VALUE: set by directives, for commands of their family only

	Input  string     // a pattern of file names
	Owner  *Submitter // nil in rows of formats before 6
	Ending Ending
}

// Submitter is the user who submitted a job, and the host.
type Submitter struct {
	UID  uint32
	Name string
	Host string
}

// Ending tells how a job's attempts end, what follows a failed one, and who gets mail about
// it. Durations are seconds.
type Ending struct {
	Retries   int    // the most attempts after a failed one
	RetryOn   string // outcomes after which it is retried; "" for the default
	RetryWait int64  // before the first retry, doubled each time
	Signal    int    // sent Before seconds before the end; 0 for none
	Before    int64
	First     bool  // send Signal to its first process only
	Grace     int64 // between the signal to terminate and being killed; negative for none, 0 for the default
	Mail      string
	MailTo    string
	RetryMem  int   // after oom, the percentage of its memory that it asks for; 0 for the same amount
	RetryMax  int64 // but at most this many KiB a chunk; 0 for what the largest node has
}

// ResourceLimit is a kernel limit of a process, as getrlimit has it. Its name is in lower case:
// nofile, stack. NoLimit means none.
type ResourceLimit struct {
	Name       string
	Soft, Hard uint64
}

// NoLimit is the value of a limit that does not limit. On disk; must not change.
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

// PayloadRow is the row of a payload.
var PayloadRow = Kind[Payload]{Payloads, payloadFields}

// HashPayload returns the key of a row. It hashes the encoded row, so that the rows of older
// versions keep their keys when a newer version writes more fields.
func HashPayload(payload []byte) (k PayloadKey, err error) {
	sum, err := SumPayload(payload)
	copy(k[:], sum[:])
	return k, err
}

// SumPayload returns the whole hash. The key is its beginning.
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

// splitPayload splits the number of jobs, which follows the version, from the rest.
func splitPayload(payload []byte) (jobs uint64, content []byte, err error) {
	d := Reader{B: payload}
	d.Byte()
	jobs = d.Uint()
	return jobs, d.B, d.done(Payloads, nil)
}

// EachPayload calls fn for the number of jobs of each payload, by key. It leaves out jobs
// without a payload.
func EachPayload(jobs map[PayloadKey]uint64, fn func(key PayloadKey, jobs uint64) error) error {
	delete(jobs, PayloadKey{})
	for _, key := range slices.SortedFunc(maps.Keys(jobs), PayloadKey.Compare) {
		if err := fn(key, jobs[key]); err != nil {
			return err
		}
	}
	return nil
}

// Missing returns an ErrDamaged: jobs name a payload that does not exist.
func (k PayloadKey) Missing() error {
	return fmt.Errorf("%w: what a job carries, %s, is missing", ErrDamaged, k)
}
