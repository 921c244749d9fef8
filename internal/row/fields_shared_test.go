package row

import (
	"sync"
	"testing"

	"github.com/placectl/placectl/index"
)

// TestWrittenRowsAreShared: encoding a row does not write to it, so several goroutines may
// encode one. The race detector would notice.
func TestWrittenRowsAreShared(t *testing.T) {
	n := &index.Node{Name: "n1", Bucket: 3, Priority: 2, Speed: 1, Features: []string{"a"}}
	n.Set(index.NCPUs, index.Value{Num: 4})
	j := &Job{
		JobFacts: JobFacts{ID: 1, State: JobRunning,
			Chunks: []JobChunk{{Count: 1, Nodes: []JobNode{{Node: 7, Chunks: 1}}}}, JobTerms: JobTerms{User: "ann"}},
		JobTimes: JobTimes[int64, int64]{JobBounds: JobBounds[int64, int64]{Walltime: 60}, Submit: 5, Start: 10,
			End: 70}}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			EncodeNode(n)
			EncodeJob(j)
		})
	}
	group.Wait()
}
