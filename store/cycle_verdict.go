package store

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
)

// verdict is what a cycle knows of a request. Jobs that ask for the same are
// decided once, and not again in later cycles until something they could use has
// changed (wake.go).
type verdict struct {
	key     string
	ask     placer.Ask
	err     error // the request is not understood any more
	buckets []*index.Bucket
	beyond  bool // what happens to other nodes matters too

	known bool   // it did not fit
	never bool   // nor ever will
	wakes uint64 // as of this waking
	why   string // what is short
	fresh bool   // decided in this cycle
}

// requestKey is what jobs have in common that ask for the same. Who asks matters
// where reservations let some in and others not.
func requestKey(j *Job, whoMatters bool) string {
	var b strings.Builder
	words := []string{j.Select, j.Place, j.Queue, j.User, j.Policy, j.Access.String(), j.Reservation, strconv.FormatInt(j.Walltime, 10)}
	if whoMatters {
		words = append(words, j.Group, j.Account, j.Class, j.Name)
	}
	for _, w := range append(words, j.Prefer...) {
		b.WriteString(strconv.Itoa(len(w)))
		b.WriteByte(':')
		b.WriteString(w)
	}
	return b.String()
}

// verdict finds what is known of a job's request.
func (p *pass) verdict(j *Job) (*verdict, error) {
	if p.letsIn == nil {
		k, _ := p.tx.tab(tableAccess).Cursor().First()
		some := k != nil
		p.letsIn = &some
	}
	key := requestKey(j, *p.letsIn)
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
	if v.ask, err = tx.Ask(j.Request()); err != nil {
		return err
	}
	v.ask.Duration = j.Walltime
	snap, err := tx.snapshot(j.Queue)
	if err != nil {
		return err
	}
	v.buckets, v.beyond = snap.Buckets(v.ask)
	return snap.Index.Err()
}

const decidedVersion = 1

func (v *verdict) rowKey() []byte { return decidedKey(v.key) }

func decidedKey(request string) []byte {
	sum := sha256.Sum256([]byte(request))
	return sum[:16]
}

// recall reads what earlier cycles found. How long a request has waited may count,
// where it may come to span placement sets: then nothing is recalled.
func (v *verdict) recall(tx *Tx) error {
	set, err := tx.Settings()
	if err != nil || set.SetDelay > 0 {
		return err
	}
	row, err := tx.get(tableDecided, v.rowKey())
	if row == nil || err != nil {
		return err
	}
	d := decoder{b: row}
	d.byte()
	v.known, v.never, v.wakes, v.why = true, d.byte() == 1, d.uint(), d.string()
	return d.done(tableDecided, v.rowKey())
}

// decide notes that the request does not fit.
func (v *verdict) decide(tx *Tx, why error, never bool) {
	v.known, v.never, v.wakes, v.why, v.fresh = true, never, tx.state.wakes, why.Error(), true
}

// settled reports whether it is known that a request does not fit now.
func (p *pass) settled(v *verdict) (bool, error) {
	if v.err != nil || !v.known {
		return v.err != nil, nil
	}
	return p.unwoken(v, v.wakes)
}

// unwoken reports whether nothing has happened since a waking that a request could
// profit by.
func (p *pass) unwoken(v *verdict, since uint64) (bool, error) {
	if p.tx.state.wakes == since || v.beyond {
		return p.tx.state.wakes == since, nil
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
		e := encoder{}
		e.byte(decidedVersion)
		e.byte(0)
		if v.never {
			e.b[1] = 1
		}
		e.uint(v.wakes)
		e.string(v.why)
		if err := p.tx.put(tableDecided, key, e.b); err != nil {
			return err
		}
	}
	if !p.whole {
		return nil
	}
	if p.tx.state.planned != p.began {
		p.tx.state.planned, p.tx.dirty = p.began, true
		if err := p.tx.remove(tableWakes, wokenKey); err != nil {
			return err
		}
	}
	var gone [][]byte
	err := p.tx.each(tableDecided, nil, func(key, _ []byte) (bool, error) {
		if !seen[string(key)] {
			gone = append(gone, bytes.Clone(key))
		}
		return true, nil
	})
	for _, key := range gone {
		if err == nil {
			err = p.tx.remove(tableDecided, key)
		}
	}
	if err != nil {
		return fmt.Errorf("forgetting what was decided: %w", err)
	}
	return nil
}
