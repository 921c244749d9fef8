package row

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"io"
)

// Answer is the answer to a request with an idempotency key, for later requests with that key.
type Answer struct {
	Key     string
	Request [32]byte // SHA-256 of the request
	At      int64    // when it was answered
	Until   int64    // kept until then, and until its jobs have ended
	First   uint64   // the first of the jobs that it made,
	Jobs    uint64   // and their number: their numbers are consecutive
	Text    []byte   // the answer
}

const answerVersion = 1

// answerHead lists all fields but the text.
func answerHead(f *Fields, a *Answer) {
	f.Version(answerVersion)
	f.KeyText("key", &a.Key)
	f.Octets("request", a.Request[:])
	f.At("at", &a.At, Past)
	f.At("until", &a.Until, Shifts)
	Uint(f, "first", &a.First)
	Uint(f, "jobs", &a.Jobs)
}

func answerFields(f *Fields, a *Answer) {
	answerHead(f, a)
	switch f.dir {
	case writing:
		f.uvar(uint64(len(a.Text)))
		f.b = deflated(f.b, a.Text)
	case reading:
		size := f.uvar(0)
		var b bytes.Buffer
		n, err := io.Copy(&b, io.LimitReader(flate.NewReader(bytes.NewReader(f.b)), int64(min(size, maxAnswer))+1))
		f.Must(err == nil && uint64(n) == size)
		a.Text = b.Bytes()
	default:
		f.Blob("text", &a.Text)
	}
}

func deflated(b, text []byte) []byte {
	out := bytes.NewBuffer(b)
	w, err := flate.NewWriter(out, flate.DefaultCompression)
	if err == nil {
		_, err = w.Write(text)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic(err) // it writes to memory, at a valid level
	}
	return out.Bytes()
}

// AnswerRow is the row of an answer, and AnswerHead what of it precedes its text.
var (
	AnswerRow  = Kind[Answer]{Answers, answerFields}
	AnswerHead = Kind[Answer]{Answers, answerHead}
)

// maxAnswer limits the memory that a row with a wrong length can take.
const maxAnswer = 1 << 30

// SplitAnswerDueKey splits a key that orders answers by when they may be deleted.
func SplitAnswerDueKey(k []byte) (until int64, key []byte) {
	if len(k) < 8 {
		return 0, nil
	}
	return int64(binary.BigEndian.Uint64(k)), k[8:]
}
