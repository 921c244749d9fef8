package cycle

import (
	"cmp"
	"slices"

	"github.com/placectl/placectl/index"
)

// widestFirst sorts the jobs without a plan: most processors first, and among equals more chunks
// first, whatever their priority, as BESTFIT of Maui does. The widest job that fits starts, and so on
// until none fits. Jobs with a plan come before them and keep it.
func (p *Pass) widestFirst(rest []*Job) error {
	type size struct{ processors, chunks int64 }
	sizes := make(map[*Job]size, len(rest))
	for _, j := range rest {
		k, err := p.kind(j)
		if err != nil {
			return err
		}
		s := size{chunks: int64(k.NumChunks())}
		for _, w := range k.Totals(k.defs) {
			if w.Res == index.NCPUs {
				s.processors = w.Value.Num
			}
		}
		sizes[j] = s
	}
	slices.SortStableFunc(rest, func(a, b *Job) int {
		switch {
		case a.Planned && b.Planned:
			return 0
		case a.Planned:
			return -1
		case b.Planned:
			return 1
		}
		return cmp.Or(cmp.Compare(sizes[b].processors, sizes[a].processors),
			cmp.Compare(sizes[b].chunks, sizes[a].chunks))
	})
	p.reordered = true
	return nil
}
