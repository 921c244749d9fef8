package cycle

import (
	"encoding/binary"
	"errors"
	"slices"
	"strconv"

	"github.com/placectl/placectl/placer/cycle"
	"github.com/placectl/placectl/store/internal/kernel"
	"github.com/placectl/placectl/store/internal/row"
	"github.com/placectl/placectl/store/internal/sharing"
)

// If jobs of an array wait one after the other, a cycle reads the first, and compares the rows of
// the others with its row. Those with the same content form a lot. They are read one by one only as
// far as the cycle starts or plans them.

// inLots reports whether what jobs' rows have in common is enough to decide about them. It is not
// if each has an order of its own, if its number lets it in somewhere, or if jobs change places.
func (p *pass) inLots() (bool, error) {
	if p.spec.Singly || p.spec.Backfill == kernel.Conservative || p.spec.Backfill == kernel.Relaxed || p.spec.WidestFirst {
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
	ranks, err := sharing.Ranks(p.tx.File)
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

// lot is a waiting job and the jobs directly behind it whose rows say the same.
type lot struct {
	*row.Job
	alike []uint64
}

// lots are the waiting jobs, in the order in which the queue is kept.
func lots(tx *kernel.Tx) (line []lot, err error) {
	rows := tx.File.Finder(row.Jobs)
	var siblings row.Siblings
	open := false // the last lot may have more
	err = tx.File.Each(row.Waiting, nil, func(key, _ []byte) (bool, error) {
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
			return false, row.Missing("job", strconv.FormatUint(id, 10))
		}
		if open && siblings.Has(payload) {
			last := &line[len(line)-1]
			last.alike = append(last.alike, id)
			return true, nil
		}
		j, err := tx.Waiting().ListedAs(id, payload)
		if err != nil {
			return false, err
		}
		line = append(line, lot{Job: j})
		if open = j.Array != 0 && j.State == row.JobQueued && len(j.After) == 0 && j.Attendant == nil && !j.Never; open {
			siblings, open = row.SiblingsOf(payload, j)
		}
		return true, nil
	})
	return line, err
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
		l.alike = slices.DeleteFunc(l.alike, func(id uint64) bool { // its start is held, and its row does not say so yet
			_, held := p.held[id]
			if held {
				p.waiting++
			}
			return held
		})
		if stays && len(l.alike) > 0 {
			p.EqualTo[l.ID] = l.alike
			p.waiting += len(l.alike)
			continue
		}
		for _, id := range l.alike {
			j, err := p.tx.Job(id)
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
	j, err := p.tx.Job(rest[0])
	if err != nil {
		return nil, err
	}
	if len(rest) > 1 {
		p.EqualTo[j.ID] = rest[1:]
	}
	p.queue = append(p.queue, j)
	return p.waits(j), nil
}
