package main

import "github.com/placectl/placectl/locality"

// site is where a batch is kept. Simulated hosts ask it for work and report to it.
type site interface {
	arrive(h *locality.Host) error
	next(host int, now int64, want int) (jobs []locality.Given, fetched int, err error)
	done(host int, now int64, job int) error
	batch() *locality.Batch
}

// opener makes a site with a batch.
type opener func(s locality.Settings, files int, jobs []locality.Job) (site, error)

// memorySite keeps the batch in memory.
type memorySite struct {
	rows *locality.Memory
	b    *locality.Batch
}

func openMemory(s locality.Settings, files int, jobs []locality.Job) (site, error) {
	m := &memorySite{rows: locality.NewMemory()}
	maker, err := locality.NewMaker("simulated", s, files, m.rows.Keep)
	if err != nil {
		return nil, err
	}
	for _, j := range jobs {
		if err := maker.Add(j); err != nil {
			return nil, err
		}
	}
	m.b, err = maker.Finish(m.rows, 0)
	return m, err
}

func (m *memorySite) batch() *locality.Batch        { return m.b }
func (m *memorySite) arrive(h *locality.Host) error { return m.rows.PutHost(h) }

func (m *memorySite) next(host int, now int64, want int) ([]locality.Given, int, error) {
	op, err := locality.Begin(m.rows, m.b, now)
	if err != nil {
		return nil, 0, err
	}
	if _, err := op.Expire(); err != nil {
		return nil, 0, err
	}
	h, err := m.rows.Host(uint32(host))
	if err != nil {
		return nil, 0, err
	}
	g, err := op.Next(h, locality.Want{Jobs: want})
	fetched := 0
	for _, f := range g.Fetch {
		fetched += f.B - f.A + 1
	}
	return g.Jobs, fetched, err
}

func (m *memorySite) done(host int, now int64, job int) error {
	op, err := locality.Begin(m.rows, m.b, now)
	if err != nil {
		return err
	}
	h, err := m.rows.Host(uint32(host))
	if err != nil {
		return err
	}
	_, err = op.Done(h, job)
	return err
}
