package daily

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/store"
)

// Live is what top shows of a store. It is read at once, and holds nothing open.
type Live struct {
	Now    time.Time
	Due    time.Time // when the clock alone changes something, zero: never
	Stats  *store.Stats
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

// A live view shows at most this many, because no one scrolls through more.
const (
	mostLines  = 1000
	mostEvents = 200
)

// ReadLive reads a live view from a store.
func ReadLive(tx *store.Tx, o Order, user string, zone *time.Location) (*Live, error) {
	stats, err := tx.Ask().Stats()
	if err != nil {
		return nil, err
	}
	v := &Live{Now: tx.Now(), Stats: stats}
	for _, read := range []func() error{
		func() error { return v.readLoads(tx) },
		func() error { return v.readJobs(tx, o, user, zone) },
		func() error { return v.readEvents(tx) },
	} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	return v, nil
}

func (v *Live) readLoads(tx *store.Tx) error {
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

func (v *Live) readJobs(tx *store.Tx, o Order, user string, zone *time.Location) error {
	look, err := tx.Ask().Outlook()
	if err != nil {
		return err
	}
	lines := &Lines{tx: tx, look: look, zone: zone}
	f := Filter{States: slices.DeleteFunc(store.JobStates(), func(s store.JobState) bool { return !s.Live() }),
		User: user}
	n := 0
	return f.EachIn(tx, o, func(j *store.Job) error {
		if n++; n > mostLines {
			v.More++
			return nil
		}
		for _, t := range []time.Time{j.Start, j.End, j.Begin} {
			if t.After(v.Now) && (v.Due.IsZero() || t.Before(v.Due)) {
				v.Due = t
			}
		}
		l, err := lines.line(j)
		v.Lines = append(v.Lines, l)
		return err
	})
}

func (v *Live) readEvents(tx *store.Tx) error {
	from := uint64(0)
	if n := tx.RecordedEvents(); n > mostEvents {
		from = n - mostEvents
	}
	err := tx.EachEvent(from, func(ev *store.Event) (bool, error) {
		v.Events = append(v.Events, &Happening{ev.Time, EventInWords(ev)})
		return true, nil
	})
	slices.Reverse(v.Events)
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

// PrintJobs prints the jobs as the rows of an answer.
func (v *Live) PrintJobs(begin func(output.Result) *output.Printer) error {
	p := begin(output.Result{Columns: lineColumns.Columns()})
	for _, l := range v.Lines {
		if err := lineColumns.Print(p, l); err != nil {
			return err
		}
	}
	return p.Close()
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
	share := int64(0)
	if l.Of > 0 {
		share = int64(float64(l.Taken) / float64(l.Of) * 100)
	}
	return fmt.Sprintf("%-16s %s %3d%%  %s", name, meter(l.Taken, l.Of, min(max(cmp.Or(width, 80)/4, 5), 30), blocks),
		share, amounts)
}
