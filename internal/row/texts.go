package row

import "encoding/binary"

// texts finds the consecutive texts of a payload, only as far as needed.
type texts struct {
	payload []byte
	at      int // position of the next text
	read    int // number of known texts
	parts   [maxTexts]part
	bad     bool
}

// maxTexts is the most consecutive texts in a row: those of a job.
const maxTexts = jobTexts

// part is bytes from..to of a payload.
type part struct{ from, to int }

// open begins a payload whose texts begin at a position.
func (t *texts) open(payload []byte, at int) {
	t.payload, t.at, t.read = payload, at, 0
}

// get returns one of the texts.
func (t *texts) get(i int) []byte {
	t.find(i)
	p := t.parts[i]
	return t.payload[p.from:p.to]
}

// find finds the texts up to one.
func (t *texts) find(i int) {
	b, at := t.payload, t.at
	for t.read <= i && at < len(b) && b[at] < 0x80 && at+int(b[at]) < len(b) { // most lengths are that short
		end := at + 1 + int(b[at])
		t.parts[t.read] = part{at + 1, end}
		t.read++
		at = end
	}
	for t.at = at; t.read <= i; t.read++ {
		n := t.length()
		t.parts[t.read] = part{t.at, t.at + n}
		t.at += n
	}
}

// length reads the length or number of what follows.
func (t *texts) length() int {
	if t.at < len(t.payload) {
		if n := int(t.payload[t.at]); n < 0x80 && n < len(t.payload)-t.at { // most lengths are that short
			t.at++
			return n
		}
	}
	return t.longLength()
}

func (t *texts) longLength() int {
	n, size := binary.Uvarint(t.payload[t.at:])
	if size <= 0 || n > uint64(len(t.payload)-t.at-size) {
		t.damaged()
		return 0
	}
	t.at += size
	return int(n)
}

func (t *texts) damaged() { t.at, t.bad = len(t.payload), true }
