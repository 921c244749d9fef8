package metrics

import (
	"strconv"

	"github.com/placectl/placectl/internal/engine"
)

// Families returns a store's numbers under their published names.
func Families(m *engine.Metrics, version string) []*Family {
	var list []*Family
	family := func(kind Kind, name, unit, help string) *Family {
		f := &Family{Name: "placectl_" + name, Help: help, Kind: kind, Unit: unit}
		list = append(list, f)
		return f
	}
	family(Gauge, "info", "", "Which placectl this is, and the format of the file.").Add(1, "version", version,
		"format", strconv.Itoa(int(m.Format)))
	nodes := family(Gauge, "nodes", "", "Nodes by state.")
	for _, n := range m.Nodes {
		nodes.Add(float64(n.Nodes), "queue", n.Queue, "state", n.State.String())
	}
	capacity := family(Gauge, "resource_capacity", "", "How much of a consumable nodes have, up or not.")
	used := family(Gauge, "resource_used", "", "How much of a consumable jobs have that run.")
	reserved := family(Gauge, "resource_reserved", "", "How much of a consumable reservations keep that have begun, "+
		"what jobs have of it among it.")
	for _, r := range m.Resources {
		name := r.Resource
		if r.Size {
			name += "_bytes"
		}
		for f, n := range map[*Family]float64{capacity: r.Capacity, used: r.Used, reserved: r.Reserved} {
			f.Add(n, "queue", r.Queue, "resource", name)
		}
	}
	share := family(Gauge, "class_share_ratio", "ratio",
		"The part of the cluster that a class is entitled to, and that it uses.")
	for _, c := range m.Classes {
		share.Add(c.Entitled, "class", c.Class, "kind", "entitled")
		share.Add(c.Used, "class", c.Class, "kind", "used")
	}
	last := 0.0
	if !m.LastCycle.IsZero() {
		last = float64(m.LastCycle.Unix())
	}
	family(Gauge, "cycle_last_timestamp_seconds", "seconds", "When the last cycle began, 0 where there was none; one "+
		"that changes nothing is noted once a minute.").Add(last)
	family(Gauge, "cycle_last_duration_seconds", "seconds", "How long the last cycle took, without its commit.").Add(
		m.Took.Seconds())
	family(Gauge, "file_bytes", "bytes", "The size of the database.").Add(float64(m.Bytes))
	family(Gauge, "file_free_bytes", "bytes", "How much of the database is free pages, which compact gives back.").Add(
		float64(m.FreeBytes))
	jobs(family, m.Queues)
	return list
}

// jobs adds the families of queues.
func jobs(family func(kind Kind, name, unit, help string) *Family, queues []engine.QueueMetrics) {
	now := family(Gauge, "jobs", "", "Jobs by state; those that have ended as long as they are kept.")
	submitted := family(Counter, "jobs_submitted", "", "Jobs that were submitted or placed.")
	ended := family(Counter, "jobs_ended", "", "Jobs that have ended, by what became of them.")
	waits := family(Histogram, "job_wait_seconds", "seconds",
		"How long jobs that have run and ended had waited for their start.")
	oldest := family(Gauge, "queue_oldest_seconds", "seconds",
		"How long the oldest job has waited that waits for nodes.")
	var bounds []float64
	for _, b := range engine.WaitBounds {
		bounds = append(bounds, float64(b))
	}
	for _, q := range queues {
		for state, n := range q.Jobs {
			if state != engine.JobLate || n > 0 { // usually no job is late
				now.Add(float64(n), "queue", q.Queue, "state", state.String())
			}
		}
		submitted.Add(float64(q.Submitted), "queue", q.Queue)
		for state, n := range q.Ended {
			ended.Add(float64(n), "outcome", state.String(), "queue", q.Queue)
		}
		waits.Distribute(bounds, q.Waits, q.Waited.Seconds(), "queue", q.Queue)
		oldest.Add(q.Oldest.Seconds(), "queue", q.Queue)
	}
}
