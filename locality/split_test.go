package locality

import "testing"

// TestSplitAtVoid cuts the second layer of a batch in which few jobs want a second result. So
// all slots on one side of a cut are void: that side has nothing unfinished, and must say so.
func TestSplitAtVoid(t *testing.T) {
	for _, c := range []struct {
		name   string
		jobs   int
		hosts  int
		second map[int]Credit // jobs that need two results
		ask    []uint32
		want   []int
	}{
		{"the lower side", 12, 5, map[int]Credit{0: 1, 4: 96, 11: 1}, []uint32{3, 0, 1, 1}, []int{1, 4, 4, 4}},
		{"the upper side", 38, 12, map[int]Credit{6: 1, 17: 3 * Micro, 37: 1}, []uint32{1, 0, 1, 3, 2},
			[]int{1, 1, 6, 1, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var jobs []Job
			for i := range c.jobs {
				j := Job{A: 0, B: 0, Credit: 1, Quorum: 1}
				if c.jobs-i <= c.jobs/2 {
					j.A, j.B = 1, 1
				}
				if credit := c.second[i]; credit > 0 {
					j.Credit, j.Quorum = credit, 2
				}
				jobs = append(jobs, j)
			}
			b := newBenchOf(t, Settings{Hosts: c.hosts, MaxErrors: 2, Lease: 500, LeastJobs: 3}, 2, jobs, "", "ann", "",
				"ann")
			for i, host := range c.ask {
				_, err := b.op().Next(b.host(host), Want{Jobs: c.want[i]})
				b.must(err)
				b.sound()
			}
		})
	}
}
