package main

import (
	"fmt"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/chart"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
)

// nodes draws each node as it is now, and sums up what is left of those of a kind.
// How much is free matters less than in what pieces.
func (p *demoPage) nodes() error {
	p.heading("Each node now", "the cpus that jobs have, and how many jobs (+ is 10 or more)")
	ramp := chart.Ramp(p.blocks())
	var rows [][]any
	var stranded int64
	for _, kind := range demoNodeKinds(p.rep.Nodes) {
		var taken, jobs strings.Builder
		for _, n := range kind {
			taken.WriteRune(chart.Level(ramp, n.CPUsTaken, n.CPUs))
			jobs.WriteByte(countDigit(n.Running))
		}
		s := sumNodes(kind)
		p.line(nodeKind(kind[0].Node), taken.String(), fmt.Sprintf("%.0f %% taken", 100*part(s.taken, s.cpus)))
		p.line("jobs", jobs.String(), fmt.Sprintf("up to %d", s.mostJobs))
		rows = append(rows, []any{s.names, s.empty, len(kind) - s.empty - s.full, s.full, s.jobs, s.free, s.piece, s.mem})
		stranded += s.stranded
	}
	fmt.Fprintln(p.out)
	err := p.table([]output.Column{{Name: "nodes", Kind: output.List, Nodes: true}, {Name: "empty", Kind: output.Integer}, {Name: "in_part", Kind: output.Integer},
		{Name: "full", Kind: output.Integer}, {Name: "jobs", Kind: output.Integer}, {Name: "ncpus_free", Kind: output.Integer}, {Name: "most_on_one", Kind: output.Integer},
		{Name: "mem_free", Kind: output.Size}}, rows)
	if stranded > 0 {
		fmt.Fprintf(p.out, "%d of the free cpus are where less than a gigabyte of memory is left\n", stranded)
	}
	return err
}

// demoNodeKinds cuts nodes where another kind begins.
func demoNodeKinds(nodes []demoNode) (kinds [][]demoNode) {
	from := 0
	for i := range nodes {
		if i+1 == len(nodes) || nodeKind(nodes[i+1].Node) != nodeKind(nodes[i].Node) {
			kinds = append(kinds, nodes[from:i+1])
			from = i + 1
		}
	}
	return kinds
}

// countDigit is a count as one character.
func countDigit(n int) byte {
	switch {
	case n == 0:
		return ' '
	case n > 9:
		return '+'
	}
	return byte('0' + n)
}

// demoSum is what nodes of a kind have together. A node is full when jobs have all
// its cpus.
type demoSum struct {
	names             []string
	empty, full, jobs int
	mostJobs          int
	cpus, taken, free int64
	piece             int64 // the most cpus that are free on one node
	mem               int64 // bytes
	stranded          int64 // cpus that are free where hardly any memory is
}

func sumNodes(nodes []demoNode) demoSum {
	var s demoSum
	for _, n := range nodes {
		s.names = append(s.names, n.Node)
		switch {
		case n.Running == 0:
			s.empty++
		case n.CPUsTaken == n.CPUs:
			s.full++
		}
		s.jobs += n.Running
		s.mostJobs = max(s.mostJobs, n.Running)
		s.cpus += n.CPUs
		s.taken += n.CPUsTaken
		s.free += n.CPUsFree
		s.piece = max(s.piece, n.CPUsFree)
		s.mem += n.MemFree
		if n.MemFree < 1<<30 {
			s.stranded += n.CPUsFree
		}
	}
	return s
}
