package placer

import (
	"slices"

	"github.com/placectl/placectl/index"
)

// Buckets lists the buckets whose nodes a request could use. Where nodes of others
// matter as well, because it takes the mates of its nodes along or some nodes have
// rules of their own about them, beyond is true.
func (s *Snapshot) Buckets(a Ask) (list []*index.Bucket, beyond bool) {
	beyond = a.Spec.Place.Share == ExclHost || !s.Index.MarkedNodes(index.Ruled).IsEmpty()
	byName := func(w Want) bool { return w.Res == index.Host || w.Res == index.VNode }
	seen := make(map[*index.Bucket]bool)
	for _, c := range a.Chunks {
		wants := c.Wants
		if slices.ContainsFunc(wants, byName) {
			wants = slices.DeleteFunc(slices.Clone(wants), byName)
		}
		for _, c := range s.Index.Candidates(a.Queue, wants) {
			if !seen[c.Bucket] {
				seen[c.Bucket] = true
				list = append(list, c.Bucket)
			}
		}
	}
	return list, beyond
}
