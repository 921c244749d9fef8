package store

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/placectl/placectl/store/internal/row"
)

// PayloadKey identifies a payload. String is hexadecimal.
type PayloadKey = row.PayloadKey

// Payload is what a job carries besides its request and its command, so that it can run later and
// elsewhere. Equal payloads are stored once.
type Payload struct {
	Script      string   // the script to run; a command beside it is its arguments
	Interpreter string   // runs the script in place of what its #! line names; "" for that
	Dir         string   // where it runs, an absolute path
	Umask       uint32   // file mode bits to clear in new files
	Env         []string // its environment, NAME=VALUE
	Limits      []ResourceLimit
	Out         string     // where its output goes, as CheckPattern describes it; "" for the default
	Err         string     // where its errors go; "" for where the output goes
	Append      bool       // the first attempt appends to a file that is there, too
	Compat      string     // the system whose variables it finds in its environment: pbs, slurm, or ""
	Variables   []string   // NAME=VALUE, of those what only the directives of its script say
	Input       string     // where its standard input comes from, as CheckPattern describes it; "" for nothing
	Owner       *Submitter // the submitter, or nil if unknown
	Ending      Ending
}

// Submitter is the person who submitted a job: its commands run as if that person had started them.
type Submitter struct {
	UID  uint32 // the real user's
	Name string // that user's
	Host string // where it was submitted
}

// UnnamedUser is the name used for a user without one.
func UnnamedUser(uid uint32) string { return "uid:" + strconv.FormatUint(uint64(uid), 10) }

// Named reports whether the submitter had a name there.
func (s *Submitter) Named() bool { return s.Name != "" && s.Name != UnnamedUser(s.UID) }

// Ending says how a job's attempts are ended, what follows a failed one, and who gets mail about
// it. The zero value is the default throughout.
type Ending struct {
	Retries   int           // how many attempts may follow one that has failed
	RetryOn   string        // after which: see CheckRetryOn; "" for the default
	RetryWait time.Duration // before the first retry, twice as long before each further one, at most an hour; 0 for 30 s
	Signal    int           // sent to its processes before the end; 0 for none
	Before    time.Duration // so long before
	First     bool          // to its first process alone
	Grace     time.Duration // between being told to terminate and being killed; 0 for 30 s, negative for no time
	Mail      string        // events to mail the owner about: begin, end, fail and requeue, joined by commas
	MailTo    string        // where to, with commas between; "" for the owner
	RetryMem  int           // after oom each chunk asks for so many percent of the memory that it asked for; 0 for as much
	RetryMax  int64         // and at most this many KiB; 0: what the largest node has
}

// The defaults of an Ending.
const (
	DefaultRetryWait = 30 * time.Second
	MaxRetryWait     = time.Hour
	DefaultGrace     = 30 * time.Second
	MaxRetries       = 1_000
)

// grace is how long a job has between being told to terminate and being killed.
func (e *Ending) grace() time.Duration {
	switch {
	case e.Grace < 0:
		return 0
	case e.Grace == 0:
		return DefaultGrace
	}
	return e.Grace
}

// ResourceLimit is a kernel limit of a process, as getrlimit has it. Its name is in lower case:
// nofile, stack. NoLimit means none.
type ResourceLimit struct {
	Name       string
	Soft, Hard uint64
}

// NoLimit is the value of a ResourceLimit that is none.
const NoLimit = row.NoLimit

// Limits on payloads, in bytes.
const (
	MaxScript      = 1 << 20
	MaxEnvironment = 128 << 10
)

// patternLetters are what may stand behind a % in a pattern.
const patternLetters = "jAaxuNt%"

// CheckPattern verifies the pattern of a file name: %j is the job, %A its array, %a its index, %x
// its name, %u its user, %N its first node, %t the attempt, and %% a %. A number may have a width
// of up to two digits and is padded with zeros then: %5j. Any other letter is an ErrInvalid.
func CheckPattern(pattern string) error {
	for i := 0; i < len(pattern); i++ {
		if pattern[i] != '%' {
			continue
		}
		if i++; i == len(pattern) {
			return fmt.Errorf("%w: the pattern %q ends in a %%; %%%% stands for one", ErrInvalid, pattern)
		}
		for n := 0; n < 2 && i+1 < len(pattern) && pattern[i] >= '0' && pattern[i] <= '9'; n++ {
			i++
		}
		letters := patternLetters
		if pattern[i-1] != '%' {
			letters = "jAat" // the numbers
		}
		if strings.IndexByte(letters, pattern[i]) < 0 {
			return fmt.Errorf("%w: %%%s in the pattern %q; there are %%j job, %%A array, %%a index, %%x name, %%u user, %%N first node, %%t attempt and %%%%",
				ErrInvalid, string([]rune(pattern[i:])[:1]), pattern)
		}
	}
	return nil
}

// check verifies a payload by itself.
func (p *Payload) check() error {
	if p == nil {
		return nil
	}
	env := 0
	for _, v := range p.Env {
		if name, _, ok := strings.Cut(v, "="); !ok || name == "" || strings.IndexByte(v, 0) >= 0 {
			return fmt.Errorf("%w: %q in the environment is not NAME=VALUE", ErrInvalid, name)
		}
		env += len(v) + 1
	}
	for _, pattern := range []string{p.Out, p.Err, p.Input} {
		if err := CheckPattern(pattern); err != nil {
			return err
		}
	}
	switch {
	case len(p.Script) > MaxScript:
		return fmt.Errorf("%w: the script has %d bytes, and may have %d", ErrInvalid, len(p.Script), MaxScript)
	case strings.IndexByte(p.Script, 0) >= 0:
		return fmt.Errorf("%w: the script has a NUL byte at offset %d: it is no text", ErrInvalid, strings.IndexByte(p.Script, 0))
	case env > MaxEnvironment:
		return fmt.Errorf("%w: the environment has %d bytes, and may have %d", ErrInvalid, env, MaxEnvironment)
	case !strings.HasPrefix(p.Dir, "/") || strings.IndexByte(p.Dir+p.Out+p.Err+p.Input, 0) >= 0:
		return fmt.Errorf("%w: the directory %q is no absolute path", ErrInvalid, p.Dir)
	case p.Umask > 0o777:
		return fmt.Errorf("%w: the umask %o is more than 777", ErrInvalid, p.Umask)
	case p.Compat != "" && p.Compat != "pbs" && p.Compat != "slurm":
		return fmt.Errorf("%w: there are variables of pbs and slurm, and none of %q", ErrInvalid, p.Compat)
	}
	return p.Ending.Check()
}

// fits verifies a payload against the request.
func (p *Payload) fits(selects string) error {
	if p != nil && p.Ending.RetryMem != 0 && !strings.Contains(selects, "mem=") {
		return fmt.Errorf("%w: more memory after oom, and the job asks for none: it is not kept to any", ErrInvalid)
	}
	return nil
}

// changed returns a changed payload of a job with a new select. Only the job's owner may change it:
// it is what the owner's processes execute.
func (ps payloads) changed(j *row.Job, selects string, change func(*Payload) error) (*Payload, error) {
	p, err := ps.of(j)
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, row.Clash("job "+strconv.FormatUint(j.ID, 10), "it runs no command of ours: there is nothing of it to change")
	}
	if a := ps.opt.Actor; a != nil && p.Owner != nil && a.UID != p.Owner.UID {
		return nil, fmt.Errorf("%w: what job %d executes is signed by %s, who alone can change it", ErrNotPermitted, j.ID, p.Owner.Name)
	}
	if err := change(p); err != nil {
		return nil, err
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	return p, p.fits(selects)
}

// replace has a job carry something else, and signs it. The job is put by the caller.
func (ps payloads) replace(j *row.Job, p *Payload, sign Signer) error {
	key, err := ps.carry(p, 1)
	if err != nil {
		return err
	}
	if err := ps.drop(map[row.PayloadKey]uint64{j.Payload: 1}); err != nil {
		return err
	}
	j.Payload, j.Signature = key, nil
	return ps.sign(sign, j)
}

// Payload is what a job carries besides its command. It is nil if there is nothing: the job was
// placed, or submitted by an older version. It fails with ErrNotFound if there is no such job.
func (tx *Tx) Payload(id uint64) (*Payload, error) {
	j, err := tx.job(id)
	if err != nil {
		return nil, err
	}
	p, err := tx.payloads().of(j)
	if p == nil || err != nil {
		return nil, err
	}
	sees, err := RolesOf(tx).sees(j)
	if !sees {
		p.Script, p.Env = "", nil
	}
	return p, err
}

// payloads is the transaction as far as it is about what jobs carry besides their commands.
type payloads struct{ *Tx }

func (tx *Tx) payloads() payloads { return payloads{tx} }

func (ps payloads) of(j *row.Job) (*Payload, error) {
	if j.Payload == (row.PayloadKey{}) {
		return nil, nil
	}
	payload, err := ps.row(j.Payload)
	if err != nil {
		return nil, err
	}
	p, err := row.DecodePayload(j.Payload[:], payload)
	if err != nil {
		return nil, err
	}
	return &Payload{Script: p.Script, Interpreter: p.Interpreter, Dir: p.Dir, Umask: p.Umask, Env: p.Env,
		Limits: converted(p.Limits, func(l row.ResourceLimit) ResourceLimit { return ResourceLimit(l) }),
		Out:    p.Out, Err: p.Err, Append: p.Append, Compat: p.Compat, Variables: p.Variables, Input: p.Input, Owner: (*Submitter)(p.Owner),
		Ending: Ending{p.Ending.Retries, p.Ending.RetryOn, lasting(p.Ending.RetryWait), p.Ending.Signal, lasting(p.Ending.Before), p.Ending.First,
			lasting(p.Ending.Grace), p.Ending.Mail, p.Ending.MailTo, p.Ending.RetryMem, p.Ending.RetryMax}}, nil
}

// row is the row of a payload that a number of jobs share.
func (p *Payload) row(jobs uint64) *row.Payload {
	return &row.Payload{Jobs: jobs, Script: p.Script, Interpreter: p.Interpreter, Dir: p.Dir, Umask: p.Umask, Env: p.Env,
		Limits: converted(p.Limits, func(l ResourceLimit) row.ResourceLimit { return row.ResourceLimit(l) }),
		Out:    p.Out, Err: p.Err, Append: p.Append, Compat: p.Compat, Variables: p.Variables, Input: p.Input, Owner: (*row.Submitter)(p.Owner),
		Ending: row.Ending{Retries: p.Ending.Retries, RetryOn: p.Ending.RetryOn, RetryWait: seconds(p.Ending.RetryWait), Signal: p.Ending.Signal,
			Before: seconds(p.Ending.Before), First: p.Ending.First, Grace: seconds(p.Ending.Grace), Mail: p.Ending.Mail, MailTo: p.Ending.MailTo, RetryMem: p.Ending.RetryMem, RetryMax: p.Ending.RetryMax}}
}

// row is a row that a job names.
func (ps payloads) row(key row.PayloadKey) ([]byte, error) {
	payload, err := ps.file.Get(row.Payloads, key[:])
	if err == nil && payload == nil {
		err = key.Missing()
	}
	return payload, err
}

// carry stores the payload of new jobs, once for all that share it.
func (ps payloads) carry(p *Payload, jobs int) (key row.PayloadKey, err error) {
	if p == nil {
		return key, nil
	}
	payload := row.EncodePayload(p.row(uint64(jobs)))
	if key, err = row.HashPayload(payload); err != nil {
		return key, err
	}
	there, err := ps.file.Get(row.Payloads, key[:])
	if err != nil {
		return key, err
	}
	if there != nil {
		n, err := row.PayloadJobs(there)
		if err == nil {
			payload, err = row.RecountPayload(there, n+uint64(jobs))
		}
		if err != nil {
			return key, err
		}
	}
	return key, ps.file.Put(row.Payloads, key[:], payload)
}

// drop notes that jobs have gone, so many of each payload. A payload is deleted with its last job.
func (ps payloads) drop(gone map[row.PayloadKey]uint64) error {
	return row.EachPayload(gone, func(key row.PayloadKey, n uint64) error {
		payload, err := ps.row(key)
		if err != nil {
			return err
		}
		jobs, err := row.PayloadJobs(payload)
		switch {
		case err != nil:
			return err
		case jobs < n:
			return fmt.Errorf("%w: %d jobs carry %s, and %d of them go", ErrDamaged, jobs, key, n)
		case jobs == n:
			err = ps.file.Remove(row.Payloads, key[:])
		default:
			if payload, err = row.RecountPayload(payload, jobs-n); err == nil {
				err = ps.file.Put(row.Payloads, key[:], payload)
			}
		}
		return err
	})
}
