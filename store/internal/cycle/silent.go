package cycle

import (
	"github.com/placectl/placectl/store/internal/hosts"
	"github.com/placectl/placectl/store/internal/jobs"
	"github.com/placectl/placectl/store/internal/kernel"
)

// silent records which attempts are unreachable, and keeps other jobs off their hosts.
func (p *pass) silent() error {
	hs := jobs.HostsOf(p.tx)
	beats, err := hosts.Beats(p.tx.File)
	if err != nil || len(beats) == 0 {
		return err
	}
	set, err := p.tx.Settings()
	if err != nil || set.LostAfter == 0 {
		return err
	}
	if why, err := p.tx.Copy(); err != nil || why != "" {
		return err // hosts report to the database itself
	}
	heard := make(map[string]int64) // by host, of any user
	for _, b := range beats {
		heard[b.Host] = max(heard[b.Host], b.Seen)
	}
	last := p.tx.Now - kernel.Seconds(set.LostAfter)
	for i := range beats {
		if b := &beats[i]; b.Seen <= last {
			if err := hs.Lost(b, last, heard[b.Host] <= last); err != nil {
				return err
			}
		}
	}
	return PlaceAnew(p.tx)
}
