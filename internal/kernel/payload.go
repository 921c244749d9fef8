package kernel

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/text"
)

// Payload is what a job carries besides its request and its command, so that it can run later and
// elsewhere. Equal payloads are stored once.
type Payload struct {
	Script      string   // the script to run; a command beside it is its arguments
	Interpreter string   // runs the script instead of the program in its #! line; "" for that
	Dir         string   // where it runs, an absolute path
	Umask       uint32   // file mode bits to clear in new files
	Env         []string // its environment, NAME=VALUE
	Limits      []row.ResourceLimit
	Out         string     // where its output goes, as CheckPattern describes it; "" for the default
	Err         string     // where its errors go; "" for where the output goes
	Append      bool       // the first attempt, too, appends to an existing file
	Compat      string     // the system whose variables it finds in its environment: pbs, slurm, or ""
	Variables   []string   // NAME=VALUE: variables that only the directives of its script set
	Input       string     // source of its standard input, as CheckPattern describes it; "" for nothing
	Owner       *Submitter // the submitter, or nil if unknown
	Ending      Ending
}

// Submitter is the person who submitted a job: its commands run as if that person had started them.
type Submitter struct {
	UID  uint32 // the real user's
	Name string // the user's name
	Host string // where the job was submitted
}

// UnnamedUser returns the name used for a user without one.
func UnnamedUser(uid uint32) string { return "uid:" + strconv.FormatUint(uint64(uid), 10) }

// Named reports whether the submitter had a name there.
func (s *Submitter) Named() bool { return s.Name != "" && s.Name != UnnamedUser(s.UID) }

// Ending tells how a job's attempts end, what follows a failed one, and who gets mail about
// it. The zero value is the default throughout.
type Ending struct {
	Retries   int           // the most attempts after a failed one
	RetryOn   string        // outcomes after which it is retried: see CheckRetryOn; "" for the default
	RetryWait time.Duration // before the first retry; doubles for each further one, up to an hour; 0 for 30 s
	Signal    int           // signal sent to its processes before the end; 0 for none
	Before    time.Duration // how long before the end
	First     bool          // send Signal to its first process only
	Grace     time.Duration // between the signal to terminate and being killed; 0 for 30 s, negative for no time
	Mail      string        // events to mail the owner about: begin, end, fail and requeue, joined by commas
	MailTo    string        // addresses, separated by commas; "" for the owner
	RetryMem  int           // after oom, each chunk asks for this many percent of its memory; 0 for the same amount
	RetryMax  int64         // but at most this many KiB; 0 for what the largest node has
}

// The defaults of an Ending.
const (
	DefaultRetryWait = 30 * time.Second
	MaxRetryWait     = time.Hour
	DefaultGrace     = 30 * time.Second
	MaxRetries       = 1_000
)

// grace returns how long a job has between the signal to terminate and being killed.
func (e *Ending) grace() time.Duration {
	switch {
	case e.Grace < 0:
		return 0
	case e.Grace == 0:
		return DefaultGrace
	}
	return e.Grace
}

// Limits on payloads, in bytes.
const (
	MaxScript      = 1 << 20
	MaxEnvironment = 128 << 10
	MaxPath        = 4095 // as in Linux
)

// patternLetters are the letters allowed after a % in a pattern.
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
			return fmt.Errorf("%w: the pattern %q ends in a %%; %%%% stands for one", row.ErrInvalid, pattern)
		}
		for n := 0; n < 2 && i+1 < len(pattern) && pattern[i] >= '0' && pattern[i] <= '9'; n++ {
			i++
		}
		letters := patternLetters
		if pattern[i-1] != '%' {
			letters = "jAat" // the numbers
		}
		if strings.IndexByte(letters, pattern[i]) < 0 {
			return fmt.Errorf("%w: %%%s in the pattern %q; there are %%j job, %%A array, %%a index, %%x name, %%u "+
				"user, %%N first node, %%t attempt and %%%%",
				row.ErrInvalid, string([]rune(pattern[i:])[:1]), pattern)
		}
	}
	return nil
}

// Check verifies a payload by itself.
func (p *Payload) Check() error {
	if p == nil {
		return nil
	}
	env := 0
	for _, v := range p.Env {
		if name, _, ok := strings.Cut(v, "="); !ok || name == "" || strings.IndexByte(v, 0) >= 0 {
			return fmt.Errorf("%w: %q in the environment is not NAME=VALUE", row.ErrInvalid, name)
		}
		env += len(v) + 1
	}
	for _, pattern := range []string{p.Out, p.Err, p.Input} {
		if err := CheckPattern(pattern); err != nil {
			return err
		}
	}
	for _, path := range []string{p.Dir, p.Out, p.Err, p.Input} {
		if len(path) > MaxPath {
			return fmt.Errorf("%w: a path has %d bytes; the maximum is %d", row.ErrInvalid, len(path), MaxPath)
		}
	}
	if err := text.CheckScript(p.Script); err != nil {
		return fmt.Errorf("%w: the script %w", row.ErrInvalid, err)
	}
	switch {
	case len(p.Script) > MaxScript:
		return fmt.Errorf("%w: the script has %d bytes; the maximum is %d", row.ErrInvalid, len(p.Script), MaxScript)
	case env > MaxEnvironment:
		return fmt.Errorf("%w: the environment has %d bytes; the maximum is %d: name what the job needs, as in "+
			"--export PATH,SEED", row.ErrInvalid, env, MaxEnvironment)
	case p.Dir == "":
		return fmt.Errorf("%w: there is no directory to run in: it is not given, or the current one is gone",
			row.ErrInvalid)
	case !strings.HasPrefix(p.Dir, "/") || strings.IndexByte(p.Dir+p.Out+p.Err+p.Input, 0) >= 0:
		return fmt.Errorf("%w: the directory %q is not an absolute path", row.ErrInvalid, p.Dir)
	case p.Umask > 0o777:
		return fmt.Errorf("%w: the umask %o is more than 777", row.ErrInvalid, p.Umask)
	case p.Compat != "" && p.Compat != "pbs" && p.Compat != "slurm":
		return fmt.Errorf("%w: use variables of pbs or slurm, not of %q", row.ErrInvalid, p.Compat)
	}
	return p.Ending.Check()
}

// Fits verifies a payload against the request.
func (p *Payload) Fits(selects string) error {
	if p != nil && p.Ending.RetryMem != 0 && !strings.Contains(selects, "mem=") {
		return fmt.Errorf("%w: more memory after oom, but the job asks for none, so it has no limit", row.ErrInvalid)
	}
	return nil
}

// Payloads is the part of a transaction that deals with payloads.
type Payloads struct{ tx *Tx }

func (tx *Tx) Payloads() Payloads { return Payloads{tx} }

func (ps Payloads) Of(j *row.Job) (*Payload, error) {
	if j.Payload == (row.PayloadKey{}) {
		return nil, nil
	}
	payload, err := ps.Row(j.Payload)
	if err != nil {
		return nil, err
	}
	p, err := row.PayloadRow.Decode(j.Payload[:], payload)
	if err != nil {
		return nil, err
	}
	return &Payload{Script: p.Script, Interpreter: p.Interpreter, Dir: p.Dir, Umask: p.Umask, Env: p.Env,
		Limits: copied(p.Limits),
		Out:    p.Out, Err: p.Err, Append: p.Append, Compat: p.Compat, Variables: p.Variables, Input: p.Input,
		Owner: (*Submitter)(p.Owner),
		Ending: Ending{p.Ending.Retries, p.Ending.RetryOn, Lasting(p.Ending.RetryWait), p.Ending.Signal,
			Lasting(p.Ending.Before), p.Ending.First,
			Lasting(p.Ending.Grace), p.Ending.Mail, p.Ending.MailTo, p.Ending.RetryMem, p.Ending.RetryMax}}, nil
}

// Row converts the payload to a row that the given number of jobs share.
func (p *Payload) Row(jobs uint64) *row.Payload {
	return &row.Payload{Jobs: jobs, Script: p.Script, Interpreter: p.Interpreter, Dir: p.Dir, Umask: p.Umask,
		Env:    p.Env,
		Limits: copied(p.Limits),
		Out:    p.Out, Err: p.Err, Append: p.Append, Compat: p.Compat, Variables: p.Variables, Input: p.Input,
		Owner: (*row.Submitter)(p.Owner),
		Ending: row.Ending{Retries: p.Ending.Retries, RetryOn: p.Ending.RetryOn, RetryWait: Seconds(p.Ending.RetryWait),
			Signal: p.Ending.Signal,
			Before: Seconds(p.Ending.Before), First: p.Ending.First, Grace: Seconds(p.Ending.Grace),
			Mail: p.Ending.Mail, MailTo: p.Ending.MailTo, RetryMem: p.Ending.RetryMem, RetryMax: p.Ending.RetryMax}}
}

// Row returns the payload row that a job names.
func (ps Payloads) Row(key row.PayloadKey) ([]byte, error) {
	payload, err := ps.tx.File.Get(row.Payloads, key[:])
	if err == nil && payload == nil {
		err = key.Missing()
	}
	return payload, err
}
