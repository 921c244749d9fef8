package store

import (
	"errors"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/query"
)

func reservationsTable(c *queryCatalog, _ int64) (query.Table, error) {
	return &listTable[*Reservation]{[]getter[*Reservation]{
		textColumn("name", "what it is called", func(r **Reservation) string { return (*r).Name }),
		timeColumn("start", "when it begins", func(r **Reservation) int64 { return (*r).Start }),
		timeColumn("end", "when it is over", func(r **Reservation) int64 { return (*r).End }),
		valueColumn("nodes", "folded", query.TextAffinity, query.Nodes, func(r **Reservation) query.Value { return c.nodeNames((*r).Nodes) }),
		textColumn("state", "planned, active or ended", func(r **Reservation) string { return (*r).State(c.tx.now) }),
		textColumn("repeat", "the rule by which it occurs", func(r **Reservation) string { return c.rule((*r).Series) }),
	}, func(add func(*Reservation)) error {
		return c.tx.EachReservation(func(r *Reservation) error {
			add(r)
			return nil
		})
	}}, nil
}

// rule is the rule of a standing reservation, "" where there is none any more.
func (c *queryCatalog) rule(series string) string {
	if series == "" {
		return ""
	}
	s, err := c.tx.Standing(series)
	if err != nil {
		if !errors.Is(err, ErrNotFound) {
			c.fail(err)
		}
		return ""
	}
	return s.Repeat.Rule
}

// calendarSpan is a stretch of the calendar.
type calendarSpan struct {
	node       string
	start, end int64
	owner      Owner
	now, whole bool
}

func spansTable(c *queryCatalog, _ int64) (query.Table, error) {
	return &listTable[calendarSpan]{[]getter[calendarSpan]{
		textColumn("node", "its name", func(s *calendarSpan) string { return s.node }),
		timeColumn("start", "from then", func(s *calendarSpan) int64 { return s.start }),
		timeColumn("end", "until then, as it is expected now", func(s *calendarSpan) int64 { return s.end }),
		valueColumn("job", "whose it is; NULL for a reservation's", query.IntegerAffinity, query.NoUnit, func(s *calendarSpan) query.Value {
			if s.owner.Job == 0 {
				return query.Value{}
			}
			return query.Int(int64(s.owner.Job))
		}),
		textColumn("reservation", "whose it is", func(s *calendarSpan) string { return s.owner.Reservation }),
		boolColumn("active", "it is under way", func(s *calendarSpan) bool { return s.now }),
		boolColumn("whole", "it takes all of the node", func(s *calendarSpan) bool { return s.whole }),
	}, func(add func(calendarSpan)) error {
		cal := c.tx.Calendar()
		err := c.tx.EachNode(func(n *index.Node) error {
			for _, b := range cal.At(n.Number) {
				owner, err := c.tx.Owner(b)
				if err != nil {
					return err
				}
				add(calendarSpan{n.Name, b.Start, cal.End(b), owner, cal.Live(b), b.Use == nil})
			}
			return nil
		})
		return errors.Join(err, cal.Err())
	}}, nil
}
