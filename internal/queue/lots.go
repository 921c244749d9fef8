package queue

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/users"
	"github.com/placectl/placectl/placer/cycle"
)

// If jobs of an array wait one after the other, a cycle reads the first, and compares the rows
// of the next ones with its row. Those with the same content form a lot. The cycle reads them
// one by one only if it starts or plans them. If the rest of the array has the same content,
// too, which the table Lots counts, it is not compared. So a cycle does not take longer for
// more jobs.

// inLots reports whether jobs with equal rows can be decided together. They cannot if each has
// its own place in the order, if a reservation admits jobs by number, or if jobs change
// places.
func (p *pass) inLots() (bool, error) {
	if p.spec.Singly || p.spec.Backfill == kernel.Conservative || p.spec.Backfill == kernel.Relaxed ||
		p.spec.WidestFirst {
		return false, nil
	}
	set, err := p.tx.Settings()
	if err != nil || set.JobPriority != "" {
		return false, err
	}
	claims, err := p.tx.Counters().Rules.Claims()
	if err != nil || len(claims) > 0 || len(p.claims) > 0 {
		return false, err
	}
	ranks, err := users.Ranks(p.tx.File)
	if err != nil || ranks != nil {
		return false, err
	}
	shares, err := p.tx.Shares()
	if err != nil || len(shares.Loads) > 0 {
		return false, err
	}
	letting, err := LettingOf(p.tx)
	return !letting.jobs, err
}

// lot is a waiting job and the jobs directly behind it with equal rows.
type lot struct {
	*row.Job
	payload []byte
	alike   []uint64
}

// lots returns the waiting jobs, in the order in which the queue is kept.
func lots(tx *kernel.Tx) (line []lot, err error) {
	rows := tx.File.Finder(row.Jobs)
	var siblings row.Siblings
	open := false // the last lot may have more
	var from []byte
	for more := true; more && err == nil; {
		more = false
		err = tx.File.EachFrom(row.Waiting, from, nil, func(key, _ []byte) (bool, error) {
			if len(key) != 16 {
				_, err := tx.Waiting().ByKey(key)
				return false, err
			}
			id := binary.BigEndian.Uint64(key[8:])
			payload, err := rows.Find(key[8:])
			if err != nil {
				return false, err
			}
			if payload == nil {
				return false, row.LostJob(id)
			}
			if open && siblings.Has(payload) {
				last := &line[len(line)-1]
				last.alike = append(last.alike, id)
				if n := len(last.alike); n >= fewAlike && n&(n-1) == 0 {
					from, more, err = passRest(tx, line)
				}
				return !more, err
			}
			j, err := tx.Waiting().ListedAs(id, payload)
			if err != nil {
				return false, err
			}
			line = append(line, lot{Job: j, payload: payload})
			if open = j.HasSiblings(); open {
				siblings, open = row.SiblingsOf(payload, j)
			}
			return true, nil
		})
	}
	return line, err
}

// fewAlike is the number of equal jobs compared before Lots is asked about the rest.
const fewAlike = 32

// passRest adds the rest of an array to the last lot, if all its waiting jobs are equal, and
// returns the key behind it. Otherwise, for example if jobs in the middle were cancelled, the
// next ones must be compared.
func passRest(tx *kernel.Tx, line []lot) (behind []byte, passed bool, err error) {
	last := &line[len(line)-1]
	key := row.AppendLot(nil, last.Job, last.payload)
	rest, err := tx.Loaded.Tallies.Lot(key)
	for _, l := range slices.Backward(line) { // the listed ones
		if l.Array != last.Array || l.Priority != last.Priority {
			break
		}
		if bytes.Equal(key, row.AppendLot(nil, l.Job, l.payload)) {
			rest -= 1 + len(l.alike)
		}
	}
	if rest <= 0 || err != nil {
		return nil, false, err
	}
	at := func(id uint64) []byte { return append(key[:8:8], row.Key64(id)...) }
	id := last.alike[len(last.alike)-1]
	end := id + uint64(rest) // if the array's waiting jobs reach exactly this far, there are no others between them
	if is, err := tx.File.Get(row.Waiting, at(end)); is == nil || err != nil {
		return nil, false, err
	}
	behind, passed = at(end+1), true
	err = tx.File.EachFrom(row.Waiting, behind, key[:8], func(key, _ []byte) (bool, error) {
		next, err := tx.Waiting().ByKey(key)
		passed = err == nil && next.Array != last.Array
		return false, err
	})
	for passed && id < end {
		id++
		last.alike = append(last.alike, id)
	}
	return behind, passed, err
}

// listLots lists the queue by lots. Jobs of a lot that may not have their nodes are listed one by
// one.
func (p *pass) listLots() error {
	line, err := lots(p.tx)
	if err != nil {
		return err
	}
	for _, l := range line {
		stays, err := p.listed(l.Job)
		if err != nil {
			return err
		}
		if len(p.held) > 0 {
			// its start is held, but its row does not say so yet
			l.alike = slices.DeleteFunc(l.alike, func(id uint64) bool {
				_, held := p.held[id]
				if held {
					p.waiting++
				}
				return held
			})
		}
		if stays && len(l.alike) > 0 {
			p.EqualTo[l.ID] = l.alike
			p.waiting += len(l.alike)
			continue
		}
		for _, id := range l.alike {
			j, err := p.tx.ListedJob(id)
			if err != nil {
				return err
			}
			if _, err := p.listed(j); err != nil {
				return err
			}
		}
	}
	return nil
}

// Alike implements cycle.Host.
func (p *pass) Alike(c *cycle.Job) (*cycle.Job, error) {
	rest := p.EqualTo[c.ID]
	if len(rest) == 0 {
		return nil, errors.New("there is no job like it")
	}
	delete(p.EqualTo, c.ID)
	j, err := p.tx.ListedJob(rest[0])
	if err != nil {
		return nil, err
	}
	if len(rest) > 1 {
		p.EqualTo[j.ID] = rest[1:]
	}
	p.queue = append(p.queue, j)
	return p.waits(j), nil
}
