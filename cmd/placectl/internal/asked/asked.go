// Package asked is a verb in words: what a process that waits in the line of a database in etcd
// hands over to the one that is first, and the answer. Another process of the same version does
// what the verb would do here, for the same user, with what is here: the contents of the files that
// the verb has read, the directory and what else a job takes along.
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

// ErrAlone says that a verb does not do without the process that asks, which runs it itself.
var ErrAlone = errors.New("it takes the process that asks")

// ErrVersion says that another version asks.
var ErrVersion = errors.New("another version asks")

// Request is a verb in words.
type Request struct {
	Version string           // of the program; another one does not understand it
	Words   []string         // the verb, its flags and arguments
	Output  output.Format    // the output format asked for
	User    string           // for whom it asks
	From    store.Submitter  // the process that asks
	Apart   bool             `json:",omitempty"` // it is in a user namespace
	Zone    string           // in which times are given
	Env     []string         `json:",omitempty"` // NAME=VALUE of those in Variables
	Files   []File           `json:",omitempty"`
	Carried *payload.Carried `json:",omitempty"` // of a submission
}

// File is what was read of a file, by the name that the verb has for it.
type File struct {
	Name, Text string
}

// Variables are those of the environment that verbs in words read.
var Variables = []string{"PLACECTL_JOB", "PLACECTL_ATTEMPT", "TZ"}

// Encode is the request as it is handed over.
func (q *Request) Encode() ([]byte, error) { return bytejson.Marshal(q) }

// Decode reads a request of a version of the program. It fails with ErrVersion if the request is
// of another.
func Decode(text []byte, version string) (*Request, error) {
	q := new(Request)
	if err := bytejson.Unmarshal(text, q); err != nil || q.Version != version {
		return nil, ErrVersion
	}
	return q, nil
}

// Getenv is the value of a variable there.
func (q *Request) Getenv(name string) string {
	for _, v := range q.Env {
		if len(v) > len(name) && v[:len(name)] == name && v[len(name)] == '=' {
			return v[len(name)+1:]
		}
	}
	return ""
}

// Open is what was read of a file there. It fails with ErrAlone if none was.
func (q *Request) Open(name string) (io.ReadCloser, error) {
	for _, f := range q.Files {
		if f.Name == name {
			return io.NopCloser(bytes.NewReader([]byte(f.Text))), nil
		}
	}
	return nil, ErrAlone
}

// Location is the time zone there. It fails with ErrAlone if it is not known here.
func (q *Request) Location() (*time.Location, error) {
	loc, err := time.LoadLocation(q.Zone)
	if err != nil || q.Zone == "" || q.Zone == "Local" {
		return nil, ErrAlone
	}
	return loc, nil
}

// Answer is what came of a request.
type Answer struct {
	Said    *keyed.Recording
	Changed bool     // something was
	Attend  *Attends `json:",omitempty"` // the process that asked leaves an attendant behind
}

// Attends is what an attendant has to know of the database.
type Attends struct {
	StateDir, Path string // settings
}

// Encode is the answer as it is handed back.
func (a *Answer) Encode() ([]byte, error) { return bytejson.Marshal(a) }

// DecodeAnswer reads an answer.
func DecodeAnswer(text []byte) (*Answer, error) {
	a := &Answer{Said: new(keyed.Recording)}
	return a, bytejson.Unmarshal(text, a)
}

// Read is what a verb has read of files, so far.
type Read struct {
	Files []File
	Bytes int
}

// Reader passes an input on, and notes what was read of it when it is closed.
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
		if n.to.Bytes <= store.MaxWords { // else it is not handed over
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
