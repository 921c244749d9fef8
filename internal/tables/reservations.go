package tables

import (
	"errors"
	"fmt"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

func reservationsTable(c *Catalog, _ int64) (tables.Table, error) {
	return &listTable[*row.Reservation]{[]getter[*row.Reservation]{
		textColumn("name", "name", func(r **row.Reservation) string { return (*r).Name }),
		timeColumn("start", "start", func(r **row.Reservation) int64 { return (*r).Start }),
		timeColumn("end", "end", func(r **row.Reservation) int64 { return (*r).End }),
		valueColumn("nodes", "node list, folded", values.TextAffinity, tables.Nodes,
			func(r **row.Reservation) values.Value { return c.nodeNames((*r).Nodes) }),
		wordColumn("state", "planned, active or ended", []string{"planned", "active", "ended"},
			func(r **row.Reservation) string { return (*r).State(c.src.Now) }),
		textColumn("repeat", "rule by which it repeats", func(r **row.Reservation) string {
			return c.rule((*r).Series)
		}),
	}, func(add func(*row.Reservation)) error {
		return c.src.Rows.Each(row.Reservations, nil, func(key, payload []byte) (bool, error) {
			r, err := row.ReservationRow.Decode(key, payload)
			if err == nil {
				add(r)
			}
			return true, err
		})
	}}, nil
}

// rule returns the rule of a standing reservation, or "" if it no longer exists.
func (c *Catalog) rule(series string) string {
	if series == "" {
		return ""
	}
	payload, err := c.src.Rows.Get(row.Standings, []byte(series))
	if err != nil || payload == nil {
		c.fail(err)
		return ""
	}
	s, err := row.StandingRow.Decode([]byte(series), payload)
	if err != nil {
		c.fail(err)
		return ""
	}
	return s.Repeat.Rule
}

// calendarSpan is a stretch of the calendar.
type calendarSpan struct {
	node        string
	start, end  int64
	job         uint64 // 0 for a reservation
	reservation string
	now, whole  bool
}

// reservation returns the name of a reservation.
func (c *Catalog) reservation(id uint64) (string, error) {
	payload, err := c.src.Rows.Get(row.ReservationIDs, row.Key64(id))
	if err == nil && payload == nil {
		err = fmt.Errorf("%w: no reservation number %d", row.ErrDamaged, id)
	}
	if err != nil {
		return "", err
	}
	return row.DecodeText(payload), nil
}

func spansTable(c *Catalog, _ int64) (tables.Table, error) {
	return &listTable[calendarSpan]{[]getter[calendarSpan]{
		textColumn("node", "node name", func(s *calendarSpan) string { return s.node }),
		timeColumn("start", "start", func(s *calendarSpan) int64 { return s.start }),
		timeColumn("end", "expected end", func(s *calendarSpan) int64 { return s.end }),
		valueColumn("job", "job; NULL: a reservation's", values.IntegerAffinity, tables.NoUnit,
			func(s *calendarSpan) values.Value {
				if s.job == 0 {
					return values.Value{}
				}
				return values.Int(int64(s.job))
			}),
		textColumn("reservation", "reservation", func(s *calendarSpan) string { return s.reservation }),
		boolColumn("active", "it is active now", func(s *calendarSpan) bool { return s.now }),
		boolColumn("whole", "it takes the whole node", func(s *calendarSpan) bool { return s.whole }),
	}, func(add func(calendarSpan)) error {
		cal := c.src.Calendar()
		err := c.eachNode(func(n *index.Node) (err error) {
			for _, b := range cal.At(n.Number) {
				s := calendarSpan{node: n.Name, start: b.Start, end: cal.End(b), now: cal.Live(b), whole: b.Use == nil}
				if !row.IsReservation(b.Owner) {
					s.job = b.Owner >> 1
				} else if s.reservation, err = c.reservation(b.Owner >> 1); err != nil {
					return err
				}
				add(s)
			}
			return nil
		})
		return errors.Join(err, cal.Err())
	}}, nil
}
