package usage

import (
	"math"
	"math/bits"
	"strings"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
)

// HeldNodes is the name of nodes among the held amounts.
const HeldNodes = "nodes"

// Ledger computes what jobs ask for. All fields but Defs may be zero.
type Ledger struct {
	Defs    *index.Defs
	selects map[string]asked // many jobs have the same
}

// asked holds what a select asks for.
type asked struct {
	amounts []Amount
	chunks  int
}

// Amount is a held amount of a resource. Num is in the resource's own unit, and Num/One in the
// unit of totals.
type Amount struct {
	Name     string
	Num, One int64
}

// Held returns what an attempt of a job holds on a number of nodes. A select that names an
// undefined resource counts for nothing.
func (l *Ledger) Held(j *row.Job, nodes int) []Amount {
	out := append(l.asked(j.Select).amounts, Amount{HeldNodes, int64(nodes), 1})
	for _, p := range j.Pools {
		out = append(out, Amount{p.Pool, p.Amount, 1})
	}
	return out
}

// asked returns what a select asks for: the sum of its chunks. The capacity of the list is its
// length, so that appending copies it.
func (l *Ledger) asked(text string) asked {
	if a, known := l.selects[text]; known {
		return a
	}
	var list []Amount
	count := 0
	chunks, err := placer.ParseSelect(l.Defs, text)
	if err != nil {
		chunks = nil
	}
	at := make(map[index.ResID]int)
	for i := range chunks {
		count += chunks[i].Count
		for _, w := range chunks[i].Wants {
			def, ok := l.Defs.Get(w.Res)
			if !ok || !def.Consumable {
				continue
			}
			n, there := at[w.Res]
			if !there {
				n, at[w.Res] = len(list), len(list)
				list = append(list, Amount{def.Name, 0, One(def)})
			}
			list[n].Num = index.Plus(list[n].Num, index.Times(w.Value.Num, int64(chunks[i].Count)))
		}
	}
	a := asked{list[:len(list):len(list)], count}
	if l.selects == nil {
		l.selects = make(map[string]asked)
	}
	l.selects[text] = a
	return a
}

// Chunks returns how many nodes a job asks for: its chunks, or one with place=pack.
func (l *Ledger) Chunks(j *row.Job) int {
	if strings.HasPrefix(j.Place, "pack") {
		return 1
	}
	return l.asked(j.Select).chunks
}

// Asked returns how much of a consumable or a pool a job asks for, in its own unit.
func (l *Ledger) Asked(j *row.Job, name string) int64 {
	for _, a := range l.asked(j.Select).amounts {
		if a.Name == name {
			return a.Num
		}
	}
	for _, p := range j.Pools {
		if p.Pool == name {
			return p.Amount
		}
	}
	return 0
}

// One returns the amount of a resource that totals count as 1: 1024 kb of a size.
func One(def index.Def) int64 {
	text := "1"
	if def.Type == index.Size {
		text = "1mb"
	}
	v, err := def.ParseValue(text)
	if err != nil || v.Num == 0 {
		return 1
	}
	return v.Num
}

// Attempt calls add for each month with what an attempt held in it, from its beginning until
// an instant and within [from, to). An attempt without recorded nodes, because an older
// version did not record them, counts for nothing.
func (l *Ledger) Attempt(j *row.Job, a *row.Attempt, until, from, to int64, add func(m row.Month, t *row.Total)) {
	from, to = max(a.Began, from), min(until, to)
	nodes := len(a.AllNodes())
	if a.Began <= 0 || nodes == 0 || from >= to {
		return
	}
	held := l.Held(j, nodes)
	for m := row.MonthOf(from); from < to; m++ {
		end := min(to, (m + 1).Start())
		t := new(row.Total)
		for _, h := range held {
			t.Hold(h.Name, product(h.Num, end-from, h.One))
		}
		add(m, t)
		from = end
	}
}

// mostHeld is the most that one attempt counts for in a month, in units times seconds. It is
// more than any cluster has, and sums of several do not overflow.
const mostHeld = 1 << 59

// product returns a*b/c, rounded down, at most mostHeld.
func product(a, b, c int64) int64 {
	high, low := bits.Mul64(uint64(max(a, 0)), uint64(max(b, 0)))
	if high >= uint64(c) {
		return mostHeld
	}
	q, _ := bits.Div64(high, low, uint64(c))
	return int64(min(q, mostHeld))
}

// EndedJob returns what counts when a job ends, in the month of its end. A job that never began
// does not count. began is when its first attempt began.
func EndedJob(j *row.Job, began int64) (m row.Month, t *row.Total, counts bool) {
	if j.State.Live() || j.CurrentAttempt() == 0 || j.End <= 0 {
		return 0, nil, false
	}
	t = &row.Total{Jobs: 1, Preempted: int64(len(j.YieldedTo))}
	if j.State == row.JobFailed {
		t.Failed = 1
	}
	if began > 0 {
		t.Waits = max(0, began-j.Submit)
	}
	return row.MonthOf(j.End), t, true
}

// Whole calls add for everything that an existing job has added to the totals: what its ended
// attempts held, and its end. attempt reads one of its attempts.
func (l *Ledger) Whole(j *row.Job, attempt func(*row.Job, int) (*row.Attempt, error),
	add func(m row.Month, t *row.Total)) error {
	last := j.CurrentAttempt()
	if j.State == row.JobRunning {
		last-- // the last attempt has not ended
	}
	first := int64(0)
	for number := 1; number <= max(last, min(1, j.CurrentAttempt())); number++ {
		a, err := attempt(j, number)
		if err != nil {
			return err
		}
		if number == 1 {
			first = a.Began
		}
		if number <= last {
			l.Attempt(j, a, a.Ended, 0, math.MaxInt64, add)
		}
	}
	if m, t, counts := EndedJob(j, first); counts {
		add(m, t)
	}
	return nil
}
