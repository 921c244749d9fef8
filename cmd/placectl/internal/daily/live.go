package daily

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
)

// Live is what top shows of a store. It is read at once, and holds nothing open.
type Live struct {
	Now    time.Time
	Due    time.Time // when the clock alone changes something, zero: never
	Stats  *engine.Stats
	Loads  []Load
	Lines  []*Line      // the jobs that have not ended
	More   int          // how many more there are
	Events []*Happening // the latest first
}

// Load is how much of a resource jobs use in a queue.
type Load struct {
	Resource, Queue string
	Taken, Of       int64 // in base units: a size in bytes
	Size            bool
}

// A live view shows at most this many, because no one scrolls through more, and looks at this many.
const (
	mostLines  = 1000
	mostEvents = 20_000
)

// ReadLive reads a live view from a store, for people or for a program.
func ReadLive(tx *engine.Tx, o Order, user string, zone *time.Location, people bool) (*Live, error) {
	stats, err := tx.Ask().Stats()
	if err != nil {
		return nil, err
	}
	v := &Live{Now: tx.Now(), Stats: stats}
	for _, read := range []func() error{
		func() error { return v.readLoads(tx) },
		func() error { return v.readJobs(tx, o, user, zone, people) },
		func() (err error) {
			v.Events, err = latestEvents(tx, func(*engine.Event) bool { return true })
			return err
		},
	} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	return v, nil
}

func (v *Live) readLoads(tx *engine.Tx) error {
	defs, err := tx.Config().Resources()
	if err != nil {
		return err
	}
	type place struct {
		res   index.ResID
		queue string
	}
	at := make(map[place]*Load)
	err = tx.Nodes().Scan(func(n *index.Node) error {
		left := tx.Nodes().Left(n)
		for _, a := range n.Res {
			def, ok := defs.Get(a.Res)
			if !ok || !def.Consumable {
				continue
			}
			l := at[place{a.Res, n.Queue}]
			if l == nil {
				l = &Load{Resource: def.Name, Queue: n.Queue, Size: def.Type == index.Size}
				at[place{a.Res, n.Queue}] = l
			}
			of := int64(def.Units(a.Value))
			l.Of += of
			i := slices.IndexFunc(left, func(b index.Amount) bool { return b.Res == a.Res })
			if i >= 0 {
				of -= int64(def.Units(left[i].Value))
			}
			l.Taken += of
		}
		return nil
	})
	for _, l := range at {
		if l.Of == 0 { // the nodes state an amount of 0
			continue
		}
		v.Loads = append(v.Loads, *l)
	}
	slices.SortFunc(v.Loads, func(a, b Load) int {
		return cmp.Or(cmp.Compare(a.Queue, b.Queue), cmp.Compare(a.Resource, b.Resource))
	})
	return err
}

func (v *Live) readJobs(tx *engine.Tx, o Order, user string, zone *time.Location,
	people bool) error {
	lines, err := NewLines(tx, zone, people)
	if err != nil {
		return err
	}
	f := Filter{States: slices.DeleteFunc(engine.JobStates(), func(s engine.JobState) bool { return !s.Live() }),
		User: user}
	err = f.EachIn(tx, o, func(j *engine.Job) error {
		if len(lines.list) == mostLines {
			v.More++
			return nil
		}
		for _, t := range []time.Time{j.Start, j.End, j.Begin} {
			if t.After(v.Now) && (v.Due.IsZero() || t.Before(v.Due)) {
				v.Due = t
			}
		}
		return lines.Add(j)
	})
	if err == nil {
		v.Lines, err = lines.Lines()
	}
	return err
}

// matches reports whether a line contains a word, in any case.
func (l *Line) matches(word string) bool {
	if word == "" {
		return true
	}
	return strings.Contains(
		strings.ToLower(strings.Join([]string{l.Job, l.Name, l.User, l.State, l.When, index.FoldNodeList(l.Nodes)},
			"\x00")), strings.ToLower(word))
}

// text formats the load for a line.
func (l *Load) text(width int, blocks bool) string {
	name := l.Resource
	if l.Queue != "" {
		name = l.Queue + " " + l.Resource
	}
	amounts := fmt.Sprintf("%d of %d", l.Taken, l.Of)
	if l.Size {
		amounts = fmt.Sprintf("%s of %s", text.FormatSize(l.Taken), text.FormatSize(l.Of))
	}
	share := int64(float64(l.Taken) / float64(l.Of) * 100)
	return fmt.Sprintf("%-16s %s %3d%%  %s", name, meter(l.Taken, l.Of, min(max(cmp.Or(width, 80)/4, 5), 30), blocks),
		share, amounts)
}
