//go:build etcd

package etcd

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/placectl/placectl/store/internal/replica"
)

// The value of a place with words has the words and the position of its owner's replica. The
// writer that runs them deletes the key and puts the answer in the step that puts the entry,
// if the key still exists. So words are run once: the key is then gone, and no copy of the
// request that put it brings it back, because it also compares the answer. Answers are trimmed
// with the log. If the log begins after the owner's position, a copy puts nothing.

// asks is a place in the line with words.
type asks struct {
	key, answer []byte
	created     int64 // the revision of its creation
}

// errTrimmed means that answers to words from a position may have been trimmed.
var errTrimmed = errors.New("the log begins behind the words")

func answered(text []byte) *replica.Tail { return &replica.Tail{Answer: text, Waiting: true} }

func (p *place) answerKey() []byte { return p.d.keys.answer(p.at, p.id) }

// asking changes the transaction that takes a place into one that takes it with words. New
// entries are read at its turn, if that comes.
func (p *place) asking(t *transaction) {
	late := encodeFirst(p.at + 2)
	t.If = append(t.If, absent(p.answerKey(), nil), comparison{Key: p.d.keys.first(), Result: less, Target: targetValue,
		Value: &late})
	t.Then = t.Then[tailRanges:]
	t.Else = append(t.Else, reading(ranged{Key: p.answerKey()}), reading(ranged{Key: p.d.keys.first()}))
}

// entered returns what a place with words sees when it is taken.
func (p *place) entered(a transactionAnswer) (*standing, error) {
	line := a.ranges(1).Pairs
	if len(line) == 0 || !bytes.Equal(line[0].Key, p.key) {
		return nil, fmt.Errorf("%w: a place in the line was not found again", replica.ErrAway)
	}
	p.created = line[0].Created
	s := &standing{revision: a.Header.Revision}
	if len(line) > 1 {
		s.before = line[1].Key
	}
	return s, nil
}

// await waits until a place with words is first, or the words were run.
func (p *place) await(ctx context.Context, at replica.Position, s *standing) (*standing, error) {
	why, waited := stir{member: anyMember}, false
	for s == nil || s.answer == nil && !s.first {
		var err error
		if s != nil && s.before != nil {
			var answer []byte
			waited = true
			if why, answer, err = p.ear.await(ctx, p, s.before, s.revision); answer != nil {
				return &standing{answer: answer}, nil
			}
			why.revision = max(why.revision, s.revision)
		}
		if err == nil {
			s, err = p.d.standing(ctx, why, p, at)
		}
		if err != nil {
			return nil, err
		}
	}
	s.waited = waited
	return s, nil
}

// askedBefore finds why a place with words was not taken: a copy was first, whose words may
// have been run, or it cannot be taken with words.
func (p *place) askedBefore(a transactionAnswer) (*standing, error) {
	if in := a.ranges(1); len(in.Pairs) > 0 {
		return &standing{answer: in.value()}, nil
	}
	if mine := a.ranges(0); len(mine.Pairs) > 0 {
		return nil, p.owned(mine)
	}
	return nil, p.trimmed(a.ranges(2), errTrimmed)
}

// trimmed fails if answers to the words of a place may have been trimmed.
func (p *place) trimmed(first rangedAnswer, err error) error {
	if len(first.Pairs) == 0 {
		return replica.ErrNoLog
	}
	n, failed := decodeFirst(first.value())
	if failed != nil {
		return failed
	}
	if n > p.at+1 {
		return err
	}
	return nil
}

// looking changes the transaction that reads a place's standing: if the place is first, it
// also reads the words of those behind, and otherwise only whether its own words were run.
func (p *place) looking(t *transaction) {
	from, end := p.d.keys.line()
	t.If = []comparison{noneBefore(from, end, p.created), createdAt(p.key, p.created)}
	t.Else = append([]operation{reading(ranged{Key: p.answerKey()}), reading(ranged{Key: p.d.keys.first()})},
		t.Then[tailRanges:]...)
	t.Then = append(t.Then,
		reading(ranged{Key: from, End: end, Order: "ASCEND", By: targetCreated, Limit: replica.MostAsked + 1}))
}

// notFirst returns the standing of a place that is not first.
func (p *place) notFirst(a transactionAnswer) (*standing, error) {
	s := &standing{revision: a.Header.Revision}
	switch before := a.ranges(3).Pairs; {
	case len(a.ranges(0).Pairs) > 0:
		s.answer = a.ranges(0).value()
	case len(a.ranges(2).Pairs) == 0:
		if err := p.trimmed(a.ranges(1), fmt.Errorf("%w: %w", replica.ErrLost, errTrimmed)); err != nil {
			return nil, err
		}
		return nil, errPlaceLost
	case len(before) > 0:
		s.before = before[0].Key
	}
	return s, nil
}

// idAndPosition is the length of a place's value before its words, in bytes.
const idAndPosition = 8 + 8

// hear records the words of those behind a place.
func (p *place) hear(line []pair) (list []replica.Asked) {
	p.askers = make(map[string]asks)
	for _, other := range line {
		if len(other.Value) <= idAndPosition || other.Created <= p.created || len(list) == replica.MostAsked {
			continue // it has no words
		}
		id := [8]byte(other.Value)
		p.askers[string(id[:])] = asks{other.Key, p.d.keys.answer(binary.BigEndian.Uint64(other.Value[len(id):]), id),
			other.Created}
		list = append(list, replica.Asked{Place: string(id[:]), Words: other.Value[idAndPosition:]})
	}
	return list
}

// answering changes the transaction that puts an entry: it also answers those behind, and puts
// nothing if another writer has run the words of the place itself.
func (p *place) answering(t *transaction, answers []replica.Answer) {
	t.If = append(t.If, createdAt(p.key, p.created))
	t.Then = append(t.Then, putting(p.answerKey(), nil))
	t.Else = append(t.Else, reading(ranged{Key: p.answerKey()}))
	for _, a := range answers {
		other := p.askers[a.Place]
		t.If = append(t.If, createdAt(other.key, other.created))
		t.Then = append(t.Then, deleting(other.key, nil), putting(other.answer, a.Text))
	}
}

// Withdraw gives up the place, see replica.Place.
func (p *place) Withdraw(ctx context.Context) (answer []byte, err error) {
	p.end()
	if p.doubled || p.created == 0 { // without its lease, no copy can put the key again
		if err := p.d.revoke(ctx, p.lease.id); err != nil {
			return nil, fmt.Errorf("%w: %w", replica.ErrLost, err)
		}
	}
	t := p.leaving()
	t.Else = []operation{reading(ranged{Key: p.answerKey()}), reading(ranged{Key: p.d.keys.first()})}
	var a transactionAnswer
	if err := p.d.read(ctx, "/v3/kv/txn", t, &a); err != nil {
		return nil, fmt.Errorf("%w: %w", replica.ErrLost, err)
	}
	if !p.doubled && p.created != 0 {
		p.d.keepLease(p.lease)
	}
	if a.Succeeded {
		return nil, nil
	}
	if answer := a.ranges(0).value(); len(answer) > 0 {
		return answer, nil
	}
	return nil, p.trimmed(a.ranges(1), fmt.Errorf("%w: %w", replica.ErrLost, errTrimmed))
}

// withdrawn gives up a place even if the context of its owner has ended.
func (d *driver) withdrawn(p *place) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), leaveWithin)
	defer cancel()
	return p.Withdraw(ctx)
}

// fail gives up a place after an error, unless its words were run.
func (p *place) fail(err error) (replica.Place, *replica.Tail, error) {
	if !p.words {
		p.Leave()
		return nil, nil, err
	}
	answer, lost := p.d.withdrawn(p)
	switch {
	case lost != nil:
		return nil, nil, lost
	case answer != nil:
		return nil, answered(answer), nil
	}
	return nil, nil, err
}
