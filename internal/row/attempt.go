package row

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// AttemptState is the state of an attempt. The numbers are on disk and must not change.
type AttemptState uint8

// The states of an attempt. An attempt that has only started has no row: its job's row implies
// it.
const (
	AttemptStarted AttemptState = 1 // the job has its nodes; the attempt is not claimed yet
	AttemptClaimed AttemptState = 2 // a process executes it
	AttemptEnding  AttemptState = 3 // it must stop, and a process may still execute it
	AttemptEnded   AttemptState = 4
)

var attemptStateNames = [...]string{AttemptStarted: "started", AttemptClaimed: "claimed", AttemptEnding: "ending",
	AttemptEnded: "ended"}

func (s AttemptState) String() string { return named(attemptStateNames[:], int(s), "state") }

// Live reports whether a process may be executing the attempt.
func (s AttemptState) Live() bool { return s == AttemptClaimed || s == AttemptEnding }

// Claimant is the kind of process that has claimed an attempt. The numbers are on disk and must not
// change.
type Claimant uint8

// The claimants.
const (
	ByNobody     Claimant = 0
	BySupervisor Claimant = 1
	ByRun        Claimant = 2 // placectl run
	ByLauncher   Claimant = 3 // the site's own launcher, which was told
)

var claimantNames = [...]string{ByNobody: "", BySupervisor: "supervisor", ByRun: "run", ByLauncher: "launcher"}

func (c Claimant) String() string { return named(claimantNames[:], int(c), "claimant") }

// Outcome is how an attempt ended. The numbers are on disk and must not change.
type Outcome uint8

// The outcomes.
const (
	OutcomeNone     Outcome = 0 // it has not ended, or how it ended was not reported
	OutcomeExited   Outcome = 1 // its command ended by itself
	OutcomeSignal   Outcome = 2 // a signal ended its command
	OutcomeWalltime Outcome = 3 // ended because its walltime was over
	OutcomeOOM      Outcome = 4 // used more memory than it asked for
	OutcomeUnbegun  Outcome = 5 // certainly, nothing of it was executed
	OutcomeRefused  Outcome = 6 // the host could not execute it
	OutcomeLost     Outcome = 7 // it may have been executed; how it ended is unknown
	OutcomeStopped  Outcome = 8 // stopped on request
)

var outcomeNames = [...]string{OutcomeNone: "", OutcomeExited: "exited", OutcomeSignal: "signal",
	OutcomeWalltime: "walltime",
	OutcomeOOM:      "oom", OutcomeUnbegun: "unbegun", OutcomeRefused: "refused", OutcomeLost: "lost",
	OutcomeStopped: "stopped"}

func (o Outcome) String() string { return named(outcomeNames[:], int(o), "outcome") }

func named(names []string, i int, what string) string {
	if i < len(names) {
		return names[i]
	}
	return fmt.Sprintf("%s(%d)", what, i)
}

// Nonce identifies the process that executes an attempt. It is drawn before the claim.
type Nonce [16]byte

// String returns the nonce in hexadecimal, or "" if it is zero.
func (n Nonce) String() string {
	if n == (Nonce{}) {
		return ""
	}
	return hex.EncodeToString(n[:])
}

// MarshalText writes the nonce as in dumps.
func (n Nonce) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (n *Nonce) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*n = Nonce{}
		return nil
	}
	if hex.DecodedLen(len(text)) != len(n) {
		return fmt.Errorf("%q is not a nonce of %d hexadecimal digits", text, hex.EncodedLen(len(n)))
	}
	_, err := hex.Decode(n[:], text)
	return err
}

// Process identifies a process among all past and present ones.
type Process struct {
	Host  string
	Boot  string // the host's boot: /proc/sys/kernel/random/boot_id
	PIDNS uint64 // inode of its PID namespace
	PID   int
	Born  uint64 // in clock ticks since the host started
}

// ResourceUse is what an attempt has used, with times in microseconds.
type ResourceUse = Use[int64]

// Use is a ResourceUse with durations of type D.
type Use[D any] struct {
	CPUUser   D
	CPUSystem D
	MaxRSS    int64 // of its largest process, in bytes
	MemPeak   int64 // of all its processes together, in bytes; 0 if not measured
	Leftover  int   // processes that outlived its command and were ended
}

// UseOf converts the times of a use.
func UseOf[D, E any](u *Use[D], lasting func(D) E) Use[E] {
	return Use[E]{lasting(u.CPUUser), lasting(u.CPUSystem), u.MaxRSS, u.MemPeak, u.Leftover}
}

// Attempt is one start of a job. Its row exists from its claim on, or from its end if the job
// continues without it.
type Attempt struct {
	AttemptFacts
	Began   int64 // Unix seconds, as Claimed and Ended
	Claimed int64 // 0 if it never was
	Ended   int64
	Why     Reason
	Use     ResourceUse
	Signals []uint8 // signals to send to its processes, in order
}

// AttemptFacts is what the row of an attempt and the attempt that the library hands out have in common.
type AttemptFacts struct {
	Job    uint64
	Number int // 1, 2, ...
	State  AttemptState
	By     Claimant
	Nonce  Nonce
	Process
	Outcome Outcome
	Exit    int // as in a shell: 128 plus the signal's number if a signal ended it
	Signal  int

	// Becomes is the job's state after an ending attempt has ended; 0: as its outcome says.
	Becomes JobState

	// Devices are its devices when it ended, as text, because the nodes may name others since:
	// g1:ngpus=0,3:ncpus=0-7.
	Devices string

	// Chunks and Along are the nodes that it had, in a row once the job's row no longer names them.
	Chunks []JobChunk
	Along  []uint32

	Sent int // number of signals sent before those in Signals
}

// AllNodes lists the nodes that it had, as Job.AllNodes does.
func (a *AttemptFacts) AllNodes() []uint32 {
	return (&JobFacts{Chunks: a.Chunks, Along: a.Along}).AllNodes()
}

// HasExit reports whether Exit says how its command ended: it was executed and its end was
// observed, even if another process stopped it.
func (a *Attempt) HasExit() bool {
	if a.Outcome == OutcomeStopped {
		return a.Exit != 0 || a.Use.MaxRSS != 0
	}
	return a.Outcome >= OutcomeExited && a.Outcome <= OutcomeOOM
}

const attemptVersion = 1

func attemptFields(f *Fields, a *Attempt) {
	f.Version(attemptVersion)
	KeyPart(f, "job", 0, 8, 12, &a.Job)
	KeyPart(f, "number", 8, 4, 12, &a.Number)
	f.Must(a.Number != 0)
	Byte(f, "state", &a.State)
	Byte(f, "by", &a.By)
	Byte(f, "outcome", &a.Outcome)
	Byte(f, "becomes", &a.Becomes)
	f.Digits("nonce", a.Nonce[:])
	f.Text("host", &a.Host)
	f.Text("boot", &a.Boot)
	f.Text("why", &a.Why.Text)
	Uint(f, "pidns", &a.PIDNS)
	Uint(f, "pid", &a.PID)
	Uint(f, "born", &a.Born)
	f.At("began", &a.Began, Past)
	f.At("claimed", &a.Claimed, Past)
	f.At("ended", &a.Ended, Past)
	Int(f, "exit", &a.Exit)
	Int(f, "signal", &a.Signal)
	Int(f, "use.cpuUser", &a.Use.CPUUser)
	Int(f, "use.cpuSystem", &a.Use.CPUSystem)
	Int(f, "use.maxRSS", &a.Use.MaxRSS)
	Int(f, "use.memPeak", &a.Use.MemPeak)
	Int(f, "use.leftover", &a.Use.Leftover)
	chunkFields(f, &a.Chunks)
	for i := range a.Chunks {
		shareFields(f, a.Chunks[i].Nodes)
	}
	Uints(f, "along", &a.Along)
	signalled := len(a.Signals) > 0 || a.Sent != 0
	told := a.Why.told()
	if f.More(a.Devices != "" || signalled || told) {
		f.Text("devices", &a.Devices)
	}
	if f.More(signalled || told) {
		Uint(f, "sent", &a.Sent)
		Uints(f, "signals", &a.Signals)
	}
	if f.More(told) {
		reasonFields(f, &a.Why)
	}
}

var attemptRow = Kind[Attempt]{Attempts, attemptFields}

// EncodeAttempt returns the row of an attempt.
func EncodeAttempt(a *Attempt) []byte { return encode(attemptFields, a) }

// DecodeAttempt decodes what EncodeAttempt returns.
func DecodeAttempt(key, payload []byte) (*Attempt, error) {
	f, v := Fields{dir: reading, b: payload, key: key}, new(Attempt)
	attemptFields(&f, v)
	return v, f.done(Attempts)
}

// AttemptKey returns the key of an attempt's row.
func AttemptKey(job uint64, number int) []byte {
	return binary.BigEndian.AppendUint32(Key64(job), uint32(number))
}

func splitAttemptKey(key []byte) (job uint64, number int, ok bool) {
	if len(key) != 12 {
		return 0, 0, false
	}
	return binary.BigEndian.Uint64(key), int(binary.BigEndian.Uint32(key[8:])), true
}

// appendClaimed appends the key in the table Claimed of an attempt that is executed on a host,
// or, with number 0, of a job whose start a process there waits for.
func appendClaimed(b []byte, host string, job uint64, number int) []byte {
	return binary.BigEndian.AppendUint32(append64(append(append(b, host...), 0), job), uint32(number))
}

// ClaimedPrefix begins the keys of one host's attempts.
func ClaimedPrefix(host string) []byte { return append([]byte(host), 0) }

// SplitClaimedKey splits such a key.
func SplitClaimedKey(key []byte) (host string, job uint64, number int, err error) {
	at := bytes.IndexByte(key, 0)
	if at < 0 {
		return "", 0, 0, fmt.Errorf("%w: claimed %x", ErrDamaged, key)
	}
	job, number, ok := splitAttemptKey(key[at+1:])
	if !ok {
		return "", 0, 0, fmt.Errorf("%w: claimed %x", ErrDamaged, key)
	}
	return string(key[:at]), job, number, nil
}

// Attendant is a process that waits for a job's start and executes it: placectl run. Its lock
// tells whether it or its command lives.
type Attendant struct {
	Nonce Nonce
	UID   uint32
	Process
}

func attendantFields(f *Fields, a *Attendant) {
	f.Digits("nonce", a.Nonce[:])
	Uint(f, "uid", &a.UID)
	f.Text("host", &a.Host)
	f.Text("boot", &a.Boot)
	Uint(f, "pidns", &a.PIDNS)
	Uint(f, "pid", &a.PID)
	Uint(f, "born", &a.Born)
}
