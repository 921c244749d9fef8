package row

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"io"
)

// Answer is what a request with an idempotency key was answered, for whoever asks again
// with the key.
type Answer struct {
	Key     string
	Request [32]byte // SHA-256 of the request
	At      int64    // when it was answered
	Until   int64    // it is kept until then, and until its jobs have ended
	First   uint64   // the first of the jobs that it made,
	Jobs    uint64   // and how many there are: their numbers follow each other
	Text    []byte   // the answer
}

const answerVersion = 1

// Encode is the row.
func (a *Answer) Encode() ([]byte, error) {
	e := encoder{}
	e.byte(answerVersion)
	e.b = append(e.b, a.Request[:]...)
	e.int(a.At)
	e.int(a.Until)
	e.uint(a.First)
	e.uint(a.Jobs)
	e.uint(uint64(len(a.Text)))
	b := bytes.NewBuffer(e.b)
	w, err := flate.NewWriter(b, flate.DefaultCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(a.Text); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// DecodeAnswer reads it, but for the text.
func DecodeAnswer(key, payload []byte) (*Answer, error) {
	a, d := decodeAnswer(key, payload)
	return a, d.done(Answers, key)
}

// DecodeAnswerText reads all of it.
func DecodeAnswerText(key, payload []byte) (*Answer, error) {
	a, d := decodeAnswer(key, payload)
	size := d.uint()
	var b bytes.Buffer
	n, err := io.Copy(&b, io.LimitReader(flate.NewReader(bytes.NewReader(d.b)), int64(min(size, maxAnswer))+1))
	d.bad = d.bad || err != nil || uint64(n) != size
	a.Text = b.Bytes()
	return a, d.done(Answers, key)
}

// maxAnswer bounds what a row that says something else may take of memory.
const maxAnswer = 1 << 30

func decodeAnswer(key, payload []byte) (*Answer, *decoder) {
	a := &Answer{Key: string(key)}
	d := &decoder{b: payload}
	d.byte()
	copy(a.Request[:], d.take(len(a.Request)))
	a.At, a.Until = d.int(), d.int()
	a.First, a.Jobs = d.uint(), d.uint()
	return a, d
}

// AnswerDueKey orders answers by when they may be forgotten.
func AnswerDueKey(until int64, key []byte) []byte {
	return append(Key64(uint64(until)), key...)
}

// SplitAnswerDueKey takes such a key apart.
func SplitAnswerDueKey(k []byte) (until int64, key []byte) {
	if len(k) < 8 {
		return 0, nil
	}
	return int64(binary.BigEndian.Uint64(k)), k[8:]
}
