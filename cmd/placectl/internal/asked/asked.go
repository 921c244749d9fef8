// Package asked encodes a verb in words for another process, and its answer. A process that waits for
// a database in etcd hands its verb to the process at the head of the queue. That process, of the same
// version, does what the verb would do here, for the same user and with what is here: the contents of
// the files that the verb has read, the directory, and whatever else a job takes along.
package asked

import (
	"bytes"
	"errors"
	"io"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/bytejson"
	"github.com/placectl/placectl/cmd/placectl/internal/keyed"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/payload"
	"github.com/placectl/placectl/store"
)

// ErrAlone says that only the asking process can run the verb.
var ErrAlone = errors.New("it takes the process that asks")

// ErrVersion says that a process of another version asks.
var ErrVersion = errors.New("another version asks")

// Request is a verb in words.
type Request struct {
	Version string           // of the program: others may not understand it
	Words   []string         // the verb, its flags and arguments
	Output  output.Format    // the requested output format
	User    string           // the user that it asks for
	From    store.Submitter  // the asking process
	Apart   bool             `json:",omitempty"` // the process is in a user namespace
	Zone    string           // the zone of times
	Env     []string         `json:",omitempty"` // NAME=VALUE for those of Variables
	Files   []File           `json:",omitempty"`
	Carried *payload.Carried `json:",omitempty"` // of a submission
}

// File is what was read of a file, with the verb's name for it.
type File struct {
	Name, Text string
}

// Variables are the environment variables that verbs in words read.
var Variables = []string{"PLACECTL_JOB", "PLACECTL_ATTEMPT", "TZ"}

// Encode encodes the request for the other process.
func (q *Request) Encode() ([]byte, error) { return bytejson.Marshal(q) }

// Decode decodes a request. It fails with ErrVersion if the request is of another version of the
// program.
func Decode(text []byte, version string) (*Request, error) {
	q := new(Request)
	if err := bytejson.Unmarshal(text, q); err != nil || q.Version != version {
		return nil, ErrVersion
	}
	return q, nil
}

// Getenv returns a variable of the asking process.
func (q *Request) Getenv(name string) string {
	for _, v := range q.Env {
		if len(v) > len(name) && v[:len(name)] == name && v[len(name)] == '=' {
			return v[len(name)+1:]
		}
	}
	return ""
}

// Open returns what the asking process has read of a file. It fails with ErrAlone if it has read none.
func (q *Request) Open(name string) (io.ReadCloser, error) {
	for _, f := range q.Files {
		if f.Name == name {
			return io.NopCloser(bytes.NewReader([]byte(f.Text))), nil
		}
	}
	return nil, ErrAlone
}

// Location returns the asking process's time zone. It fails with ErrAlone if the zone is unknown here.
func (q *Request) Location() (*time.Location, error) {
	loc, err := time.LoadLocation(q.Zone)
	if err != nil || q.Zone == "" || q.Zone == "Local" {
		return nil, ErrAlone
	}
	return loc, nil
}

// Answer is the result of a request.
type Answer struct {
	Said    *keyed.Recording
	Changed bool     // the database was changed
	Attend  *Attends `json:",omitempty"` // the asking process leaves an attendant behind
}

// Attends is what an attendant needs to know about the database.
type Attends struct {
	StateDir, Path string // the settings state_dir and path
	Kept           string `json:",omitempty"` // the database's directory in StateDir
}

// Encode encodes the answer for the asking process.
func (a *Answer) Encode() ([]byte, error) { return bytejson.Marshal(a) }

// DecodeAnswer decodes an answer.
func DecodeAnswer(text []byte) (*Answer, error) {
	a := &Answer{Said: new(keyed.Recording)}
	return a, bytejson.Unmarshal(text, a)
}

// Read is what a verb has read of files so far.
type Read struct {
	Files []File
	Bytes int
}

// Reader passes an input on. When it is closed, it records what was read.
func (r *Read) Reader(name string, from io.ReadCloser) io.ReadCloser {
	return &noted{from: from, name: name, to: r}
}

type noted struct {
	from io.ReadCloser
	name string
	text []byte
	to   *Read // nil once it is closed
}

func (n *noted) Read(p []byte) (int, error) {
	count, err := n.from.Read(p)
	if n.to != nil {
		n.to.Bytes += count
		if n.to.Bytes <= store.MaxWords { // more is not handed over
			n.text = append(n.text, p[:count]...)
		}
	}
	return count, err
}

func (n *noted) Close() error {
	if n.to != nil {
		n.to.Files = append(n.to.Files, File{n.name, string(n.text)})
		n.to = nil
	}
	return n.from.Close()
}
