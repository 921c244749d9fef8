package placer

import (
	"cmp"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
)

// compareSets describes the placement sets, and how far the best of them leaves the chunks from
// starting.
func (x *explainer) compareSets() {
	kinds := len(x.Chunks)
	for _, sm := range x.sets {
		view := SetView{Name: SetName(x.Index.Defs(), sm.set), Fits: make([]int64, kinds)}
		serving := make([]*roaring.Bitmap, kinds)
		for kind := range kinds {
			serving[kind] = x.nodesOf(sm.cands[kind])
			view.Fits[kind] = x.sieves[kind].room(serving[kind])
		}
		view.Nodes = int(roaring.FastOr(serving...).AndCardinality(x.up))
		x.out.Sets = append(x.out.Sets, view)
		x.out.Together = x.out.Together || x.each(view.Fits)
	}
	keeps := len(x.sets) > 0 && !x.maySpan(x.Now)
	fits := make([]int64, kinds)
	for kind := range kinds {
		if fits[kind] = x.sieves[kind].room(nil); keeps {
			fits[kind] = 0
			for _, view := range x.out.Sets {
				fits[kind] = max(fits[kind], view.Fits[kind])
			}
		}
		x.out.Chunks[kind].Fits = fits[kind]
	}
	x.out.Together = x.out.Verdict == StartsLater && kinds > 1 && (x.out.Together || !keeps && x.each(fits))
}

// compareHosts describes the hosts that could hold a packed request.
func (x *explainer) compareHosts() {
	x.out.Packed = x.packed != nil
	for _, on := range x.onHosts {
		view := HostView{Fits: make([]int64, len(on.Chunks)), Wants: on.needs()}
		nodes := roaring.New()
		s := on.seek(x.Now, nil, false)
		for kind := range on.Chunks {
			for i := range on.whole[kind] {
				c := &on.whole[kind][i]
				up := roaring.And(within(x.Index.Nodes(c.Bucket, index.None), c.Cells), x.up)
				nodes.Or(up)
				for it := up.Iterator(); it.HasNext(); {
					node := it.Next()
					if s.look(&x.spot, node, c.Bucket, x.Index.ClassOf(c.Bucket, node)) {
						view.Fits[kind] += int64(s.holds(&x.spot, kind, on.Chunks[kind].Count))
					}
					view.Name = cmp.Or(x.spot.host, view.Name)
				}
			}
		}
		view.Nodes = int(nodes.GetCardinality())
		x.out.Hosts = append(x.out.Hosts, view)
	}
}

// each reports whether every chunk fits by itself.
func (x *explainer) each(fits []int64) bool {
	for kind, n := range fits {
		if n < int64(x.Chunks[kind].Count) {
			return false
		}
	}
	return true
}
