package main

import (
	"math"
	"math/rand/v2"

	"github.com/placectl/placectl/index/heap"
)

// A cluster writes the streams wide and narrow. It divides the machine into lanes and runs one job after
// the other in each, sometimes with a pause between them. So the plan is nearly full and no job is ever
// refused.
type cluster struct {
	*generator
	rng   *rand.Rand
	wide  bool
	width []int64         // of the lanes
	free  *heap.Heap[due] // the lanes by when they become free
	jobs  []job           // by id - 1
	ends  *heap.Heap[due] // ids by end; may include jobs already removed or shrunk
	live  []int           // ids, for drawing one
	now   int64
}

type job struct {
	start, duration, amount int64
	at                      int // in live, or -1
}

func newCluster(g *generator, wide bool, n int) *cluster {
	c := &cluster{generator: g, rng: rand.New(rand.NewPCG(2020, uint64(n))), wide: wide, ends: heap.New((*due).before)}
	var free []due
	for left := int64(units); left > 0; {
		w := min(left, 500+c.rng.Int64N(1001))
		if wide {
			w = min(left, c.powerOfTwo())
		}
		free = append(free, due{c.rng.Int64N(3600), len(c.width)})
		c.width = append(c.width, w)
		left -= w
	}
	c.free = heap.Of(free, (*due).before)
	return c
}

// powerOfTwo returns 1 most of the time, and up to 512 with a heavy tail.
func (c *cluster) powerOfTwo() int64 {
	x := -math.Log2(1-c.rng.Float64()) * 1.25
	return int64(1) << min(9, int(x))
}

// duration returns a log-uniform duration from a minute to a day.
func (c *cluster) duration() int64 {
	return int64(60 * math.Exp(c.rng.Float64()*math.Log(24*60)))
}

// request returns an amount like the running jobs', or about what is usually free, which is the hard
// case, or so much that it fits only late.
func (c *cluster) request() int64 {
	switch x := c.rng.Float64(); {
	case x < .4 && c.wide:
		return c.powerOfTwo()
	case x < .4:
		return 100 + c.rng.Int64N(1401)
	case x < .8:
		return 50 + c.rng.Int64N(551)
	}
	return 1000 + c.rng.Int64N(8001)
}

// put plans a job in the lane that becomes free first.
func (c *cluster) put() {
	lane := c.free.Pop()
	start, d := lane.t, c.duration()
	if c.rng.Float64() < .15 {
		start += int64(c.rng.ExpFloat64() * 2000)
	}
	c.run(start, d, c.width[lane.n])
	c.free.Push(due{start + d, lane.n})
}

func (c *cluster) run(start, duration, amount int64) {
	id := c.add(start, duration, amount)
	c.jobs = append(c.jobs, job{start, duration, amount, len(c.live)})
	c.live = append(c.live, id)
	c.ends.Push(due{start + duration, id})
}

func (c *cluster) remove(id int) {
	at, last := c.jobs[id-1].at, c.live[len(c.live)-1]
	c.live[at], c.jobs[last-1].at = last, at
	c.live = c.live[:len(c.live)-1]
	c.jobs[id-1].at = -1
	c.line("R %d", id)
}

// complete removes the job that ends first and moves the clock there.
func (c *cluster) complete() {
	for {
		next := c.ends.Pop()
		if c.jobs[next.n-1].at >= 0 {
			c.now = max(c.now, next.t)
			c.remove(next.n)
			return
		}
	}
}

// shrink replaces a job by one that is shorter and smaller.
func (c *cluster) shrink() {
	id := c.live[c.rng.IntN(len(c.live))]
	j := c.jobs[id-1]
	c.remove(id)
	c.run(j.start, max(1, j.duration-c.rng.Int64N(j.duration/2+1)), max(1, j.amount-c.rng.Int64N(j.amount/2+1)))
}

// horizon returns where the plan thins out.
func (c *cluster) horizon() int64 { return max(c.now+100, c.free.First().t) }

func (c *cluster) moment() int64 { return c.now + c.rng.Int64N(c.horizon()-c.now+1) }

func (c *cluster) write(n, rounds int) {
	c.line("P build")
	for range n {
		c.put()
	}
	c.line("P mixed")
	for range rounds {
		if c.rng.Float64() < .7 {
			c.complete()
			c.put()
		} else {
			c.shrink()
		}
		for _, op := range "QE" {
			c.line("%c %d %d %d", op, c.now, c.duration(), c.request())
		}
		c.line("T %d", c.moment())
		c.line("D %d %d %d", c.moment(), c.duration(), c.request())
		c.line("M %d %d", c.moment(), c.duration())
	}
	c.line("P query_now")
	for range rounds {
		c.line("Q %d %d %d", c.now, c.duration(), c.request())
	}
	c.line("P query_late90")
	for range max(3, min(200, 2000000/n)) {
		c.line("Q %d %d %d", c.now+(c.horizon()-c.now)*9/10, c.duration(), c.request())
	}
}

// due is something due at a time. The number breaks ties.
type due struct {
	t int64
	n int
}

func (d *due) before(e *due) bool { return d.t < e.t || d.t == e.t && d.n < e.n }
