package placer

import (
	"iter"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
)

// found is a node that the bitmaps do not rule out for a chunk.
type found struct {
	node   uint32
	bucket *index.Bucket
	class  index.Class
}

// feed is the nodes of one class of one bucket, ascending.
type feed struct {
	roaring.IntPeekable
	bucket *index.Bucket
	class  index.Class
}

func (f *feed) before(g *feed) bool {
	if f.bucket.Priority != g.bucket.Priority {
		return f.bucket.Priority > g.bucket.Priority
	}
	return f.PeekNext() < g.PeekNext()
}

// inOrder goes through the nodes that could serve a chunk in node order: by
// priority, then as declared. The candidates come by their first nodes, and a
// bucket is not opened before its first node's turn.
func (s *seeker) inOrder(kind int, cands []index.Candidate) iter.Seq[found] {
	return func(yield func(found) bool) {
		var heap []*feed
		for next := 0; ; {
			for next < len(cands) && (len(heap) == 0 || !ahead(heap[0], cands[next].Bucket)) {
				for _, class := range []index.Class{index.Free, index.Later, index.Busy} {
					nodes := s.nodes(kind, &cands[next], class)
					if nodes != nil && !nodes.IsEmpty() {
						heap = pushFeed(heap, &feed{nodes.Iterator(), cands[next].Bucket, class})
					}
				}
				next++
			}
			if len(heap) == 0 {
				return
			}
			top := heap[0]
			if !yield(found{top.Next(), top.bucket, top.class}) {
				return
			}
			if !top.HasNext() {
				heap[0] = heap[len(heap)-1]
				heap = heap[:len(heap)-1]
			}
			sink(heap)
		}
	}
}

// ahead reports whether a feed's next node comes before all those of a bucket.
func ahead(f *feed, b *index.Bucket) bool {
	if f.bucket.Priority != b.Priority {
		return f.bucket.Priority > b.Priority
	}
	return f.PeekNext() < b.First
}

func pushFeed(heap []*feed, f *feed) []*feed {
	heap = append(heap, f)
	for i := len(heap) - 1; i > 0; {
		up := (i - 1) / 2
		if !heap[i].before(heap[up]) {
			break
		}
		heap[i], heap[up] = heap[up], heap[i]
		i = up
	}
	return heap
}

// sink puts the first feed where it belongs.
func sink(heap []*feed) {
	for i := 0; ; {
		least := i
		for _, k := range [2]int{2*i + 1, 2*i + 2} {
			if k < len(heap) && heap[k].before(heap[least]) {
				least = k
			}
		}
		if least == i {
			return
		}
		heap[i], heap[least] = heap[least], heap[i]
		i = least
	}
}

// nodes are those of a candidate's class that could serve a chunk at the instant:
// of the busy ones those that have room now, or have something given back by then.
func (s *seeker) nodes(kind int, c *index.Candidate, class index.Class) *roaring.Bitmap {
	if !s.empty && s.ended == nil && c.Bucket.Count[class] == 0 {
		return nil
	}
	nodes := s.Index.Nodes(c.Bucket, class)
	if class == index.Busy && !s.empty {
		might := s.ended
		if s.shares {
			might = s.roomFor(kind)
		}
		if might == nil {
			return nil
		}
		nodes = roaring.And(nodes, might)
	}
	if s.swept != nil {
		nodes = roaring.And(nodes, s.swept.Fit)
	}
	return within(nodes, c.Cells)
}

// within narrows nodes to those of a candidate's cells.
func within(nodes *roaring.Bitmap, cells []index.Cell) *roaring.Bitmap {
	if part := cellNodes(cells); part != nil {
		return roaring.And(nodes, part)
	}
	return nodes
}

// cellNodes is the nodes of a candidate's cells, nil for all of its bucket.
func cellNodes(cells []index.Cell) *roaring.Bitmap {
	part := cells[0].Nodes
	for _, cell := range cells[1:] {
		part = roaring.Or(part, cell.Nodes)
	}
	return part
}

// roomFor is the busy nodes that may have room for a chunk at the instant.
func (s *seeker) roomFor(kind int) *roaring.Bitmap {
	if s.rooms[kind] == nil {
		room := s.Index.WithRoom(s.Chunks[kind].Wants)
		if s.ended != nil {
			room = roaring.Or(room, s.ended)
		}
		s.rooms[kind] = room
	}
	return s.rooms[kind]
}
