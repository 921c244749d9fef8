package store

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store/internal/row"
)

// verdict is what a cycle knows of a request. Jobs that ask for the same are
// decided once, and not again in later cycles until something they could use has
// changed (wake.go), time alone may have made room, or one asks that comes before
// those for whom it was decided: plans that were in their way make way for it.
type verdict struct {
	key     string
	ask     placer.Ask
	err     error // the request is not understood any more, or can never run
	buckets []*index.Bucket
	beyond  bool // what happens to other nodes matters too

	possible bool // it could run some day, as was found out for jobs that had no turn

	known  bool   // it did not fit
	never  bool   // nor ever will
	wakes  uint64 // as of this waking
	why    string // what is short
	until  int64  // as long as only time passes that holds until then
	by     queued // the job for which it was decided
	fresh  bool   // decided in this cycle
	steady bool   // no taking makes it fit
	taken  int    // as of so many takings in this cycle
}

// queued is a job's place in the queue.
type queued struct {
	priority int64
	id       uint64
}

func placeOf(j *Job) queued { return queued{j.Priority, j.ID} }

func (q queued) before(o queued) bool {
	return q.priority > o.priority || q.priority == o.priority && q.id < o.id
}

// requestKey is what jobs have in common that ask for the same, with what else may
// tell them apart.
func requestKey(j *Job, apart []string) string {
	var b strings.Builder
	words := []string{j.Select, j.Place, j.Queue, j.User, j.Request().Policy, j.Access.String(), j.Reservation, strconv.FormatInt(j.Walltime, 10)}
	words = append(words, apart...)
	for _, w := range append(words, j.Prefer...) {
		b.WriteString(strconv.Itoa(len(w)))
		b.WriteByte(':')
		b.WriteString(w)
	}
	return b.String()
}

// letting is whether reservations let anybody in, and any job by its number or name.
type letting struct{ some, jobs bool }

func (tx *Tx) letting() (l letting, err error) {
	err = tx.file.Each(row.Access, nil, func(_, _ []byte) (bool, error) { l.some = true; return false, nil })
	if err == nil && l.some {
		err = tx.file.Each(row.Access, []byte{byte(placer.AccessJob)}, func(_, _ []byte) (bool, error) { l.jobs = true; return false, nil })
	}
	return l, err
}

// tellsApart is what else than the request matters of a job: who asks, where
// reservations let some in and others not; its number, where one does so by that; and
// since when it waits, where it may come to span placement sets.
func (tx *Tx) tellsApart(j *Job, l letting) (apart []string, err error) {
	set, err := tx.settings()
	if err != nil {
		return nil, err
	}
	if set.SetDelay > 0 {
		apart = append(apart, "since", strconv.FormatInt(j.Submit, 10))
	}
	if l.some {
		apart = append(apart, j.Group, j.Account, j.Class, j.Name)
	}
	if l.jobs {
		byNumber := false
		err = tx.lettingIn(placer.Subject{Job: j.ID, Array: j.Array, Index: j.Index}, func(uint64, placer.AccessEntry) error {
			byNumber = true
			return nil
		})
		if byNumber {
			apart = append(apart, "number", strconv.FormatUint(j.ID, 10))
		}
	}
	return apart, err
}

// verdict finds what is known of a job's request.
func (p *pass) verdict(j *Job) (*verdict, error) {
	if p.letting == nil {
		l, err := p.tx.letting()
		if err != nil {
			return nil, err
		}
		p.letting = &l
	}
	apart, err := p.tx.tellsApart(j, *p.letting)
	if err != nil {
		return nil, err
	}
	key := requestKey(j, apart)
	if v := p.verdicts[key]; v != nil {
		return v, nil
	}
	v := &verdict{key: key}
	p.verdicts[key] = v
	if err := v.read(p.tx, j); err != nil {
		if isRefusal(err) {
			v.err = err
			return v, nil
		}
		return nil, err
	}
	return v, v.recall(p.tx)
}

// read reads the request.
func (v *verdict) read(tx *Tx, j *Job) error {
	var err error
	if v.ask, err = tx.AskOf(j); err != nil {
		return err
	}
	snap, err := tx.snapshot(j.Queue)
	if err != nil {
		return err
	}
	v.buckets, v.beyond = snap.Buckets(v.ask)
	return snap.Index.Err()
}

func (v *verdict) rowKey() []byte { return row.DecidedKey(v.key) }

// recall reads what earlier cycles found.
func (v *verdict) recall(tx *Tx) error {
	payload, err := tx.file.Get(row.Decided, v.rowKey())
	if payload == nil || err != nil {
		return err
	}
	c, err := row.DecodeDecision(v.rowKey(), payload)
	v.known, v.never, v.wakes, v.why, v.until, v.by = true, c.Never, c.Wakes, c.Why, c.Until, queued{c.Priority, c.Job}
	return err
}

// encode is the row that recall reads.
func (v *verdict) encode() []byte {
	return row.EncodeDecision(&row.Decision{Never: v.never, Wakes: v.wakes, Why: v.why, Until: v.until, Priority: v.by.priority, Job: v.by.id})
}

// decide notes that the request does not fit.
func (p *pass) decide(v *verdict, j *Job, why error) {
	v.known, v.never, v.wakes, v.why, v.fresh = true, true, p.tx.state.Wakes, why.Error(), true
	v.until, v.by, v.taken = math.MaxInt64, placeOf(j), p.taken
	var r *placer.Refusal
	if errors.As(why, &r) && r.Kind == placer.ErrNotNow {
		v.never, v.until = false, r.Until
	}
	if v.steady = v.until > p.tx.now; p.reordered {
		v.until = p.tx.now // plans of jobs behind it were in its way
	}
}

// settled reports whether it is known that a job's request does not fit now.
func (p *pass) settled(v *verdict, j *Job) (bool, error) {
	switch {
	case v.err != nil || !v.known:
		return v.err != nil, nil
	case v.fresh && !v.steady && v.taken != p.taken:
		return false, nil
	case !v.fresh && v.until <= p.tx.now, placeOf(j).before(v.by):
		return false, nil
	}
	return p.unwoken(v, v.wakes)
}

// unwoken reports whether nothing has happened since a waking that a request could
// profit by.
func (p *pass) unwoken(v *verdict, since uint64) (bool, error) {
	if p.tx.state.Wakes == since || v.beyond {
		return p.tx.state.Wakes == since, nil
	}
	last, err := p.tx.lastWake(v.buckets)
	return last <= since, err
}

// keepVerdicts writes down what was decided, and forgets what nobody asks for any
// more.
func (p *pass) keepVerdicts() error {
	seen := make(map[string]bool)
	for _, v := range p.verdicts {
		key := v.rowKey()
		seen[string(key)] = true
		if !v.fresh {
			continue
		}
		if err := p.tx.file.Put(row.Decided, key, v.encode()); err != nil {
			return err
		}
	}
	if !p.whole {
		return nil
	}
	if p.tx.state.Planned != p.began {
		p.tx.state.Planned, p.tx.dirty = p.began, true
		if err := p.tx.file.Remove(row.Wakes, row.KeyWoken); err != nil {
			return err
		}
	}
	var gone [][]byte
	err := p.tx.file.Each(row.Decided, nil, func(key, _ []byte) (bool, error) {
		if !seen[string(key)] {
			gone = append(gone, bytes.Clone(key))
		}
		return true, nil
	})
	for _, key := range gone {
		if err == nil {
			err = p.tx.file.Remove(row.Decided, key)
		}
	}
	if err != nil {
		return fmt.Errorf("forgetting what was decided: %w", err)
	}
	return nil
}
