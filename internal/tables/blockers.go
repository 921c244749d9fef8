package tables

import (
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// blocker is a job or reservation that has a node which another job waits for.
type blocker struct {
	job, by     uint64 // by is 0 for a reservation
	reservation string
	node        uint32
	until       int64
}

// blockersOf lists the jobs and reservations that have nodes on which a job could otherwise
// run, or will have them before the job would end.
func blockersOf(c *Catalog) tables.Function {
	return &listFunction[blocker]{[]getter[blocker]{
		intColumn("job", "the job that waits", func(b *blocker) int64 { return int64(b.job) }),
		numberColumn("blocked_by", "the job that has the node; NULL for a reservation", func(b *blocker) int64 {
			return int64(b.by)
		}),
		textColumn("reservation", "the reservation that has it", func(b *blocker) string { return b.reservation }),
		textColumn("node", "a node on which the job could run", func(b *blocker) string { return c.nodeName(b.node) }),
		timeColumn("until", "when it is expected to be given back", func(b *blocker) int64 {
			return sometime(b.until)
		}),
	}, func(args []values.Value, add func(blocker)) error {
		id, err := c.jobNumber(args[0], "blockers")
		if err != nil || id == 0 {
			return err
		}
		payload, err := c.src.Rows.Get(row.Jobs, row.Key64(id))
		if err != nil {
			return err
		}
		j, err := row.DecodeJob(row.Key64(id), payload)
		if err != nil || j.State == row.JobRunning || !j.State.Live() {
			return err
		}
		ex, err := c.src.Explain(id)
		if err != nil {
			return passRefusal(err)
		}
		return c.blockers(j, ex, add)
	}}
}

// blocking are the causes that go away when a node is given back.
var blocking = map[placer.Cause]bool{placer.CauseReserved: true, placer.CauseTaken: true, placer.CauseShort: true,
	placer.CauseTooSoon: true,
	placer.CauseUser:    true, placer.CauseHost: true}

func (c *Catalog) blockers(j *row.Job, ex *placer.Explanation, add func(blocker)) error {
	cal := c.src.Calendar()
	seen := make(map[[2]uint64]bool)
	for i := range ex.Chunks {
		for _, r := range ex.Chunks[i].Reasons {
			if !blocking[r.Cause] {
				continue
			}
			for _, n := range r.Nodes {
				for _, b := range cal.At(n) {
					key := [2]uint64{b.Owner, uint64(n)}
					if seen[key] || b.Owner == j.ID<<1 || b.Start >= c.src.Now+j.Walltime || cal.End(b) <= c.src.Now {
						continue
					}
					seen[key] = true
					out := blocker{job: j.ID, by: b.Owner >> 1, node: n, until: cal.End(b)}
					if row.IsReservation(b.Owner) {
						name, err := c.reservation(out.by)
						if err != nil {
							return err
						}
						out.by, out.reservation = 0, name
					}
					add(out)
				}
			}
		}
	}
	return cal.Err()
}
