package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/nodefile"
	"github.com/placectl/placectl/cmd/placectl/internal/simulate"
	"github.com/placectl/placectl/cmd/placectl/internal/spell"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/backfill"
	"github.com/placectl/placectl/placer/fairshare"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

// simulateOptions is what the command line asks for.
type simulateOptions struct {
	trace     string
	procs     int64 // 0 for what the trace says
	policies  []backfill.Policy
	compare   bool
	requested bool
	out       string // "" for none

	nodes      string          // the file, "" to count processors
	units      *nodefile.Units // of the file
	nodePolicy placer.Policy
	gantt      string // "" for none

	shares *simulate.Shares // nil for none
}

func (r *runner) simulateOptions(c *cli.Context) (*simulateOptions, error) {
	o := &simulateOptions{trace: c.Args().First(), procs: c.Int64("procs"), requested: c.Bool("requested"), out: c.String("out"), compare: c.IsSet("compare"), nodes: c.String("nodes"), gantt: c.String("gantt")}
	words := []string{c.String("policy")}
	flag := "policy"
	if o.compare {
		flag, words = "compare", strings.Split(c.String("compare"), ",")
	}
	for _, word := range words {
		p := slices.Index(backfill.PolicyNames(), word)
		if p < 0 {
			return nil, usagef("%s: %w", verbs.Dashed(flag), spell.NotOneOf(word, backfill.PolicyNames()))
		}
		o.policies = append(o.policies, backfill.Policy(p))
	}
	switch {
	case o.compare && c.IsSet("out"):
		return nil, usagef("--out is of one policy; name it with --policy instead of --compare")
	case o.compare && c.IsSet("gantt"):
		return nil, usagef("--gantt is of one policy; name it with --policy instead of --compare")
	case o.compare && (c.IsSet("by") || c.IsSet("svg") || c.IsSet("series") || c.IsSet("html")):
		return nil, usagef("--by, --svg, --series and --html are of one policy; name it with --policy instead of --compare")
	case c.IsSet("svg") && c.String("svg") == "" || c.IsSet("series") && c.String("series") == "" || c.IsSet("html") && c.String("html") == "":
		return nil, usagef("--svg, --series or --html is empty; name a file, or - for standard output")
	case c.IsSet("out") && o.out == "":
		return nil, usagef("--out is empty; name a file, or - for standard output")
	case c.IsSet("procs") && (o.procs < 1 || o.procs > backfill.MaxProcs):
		return nil, usagef("--procs %d: it must be from 1 to %d", o.procs, int64(backfill.MaxProcs))
	}
	if err := o.readNodeFlags(c); err != nil {
		return nil, err
	}
	return o, r.readShares(c, o)
}

// readNodeFlags reads the flags that are about nodes.
func (o *simulateOptions) readNodeFlags(c *cli.Context) (err error) {
	switch {
	case c.IsSet("nodes") && o.nodes == "":
		return usagef("--nodes is empty; name a file of nodes")
	case o.nodes == "" && c.IsSet("node-policy"):
		return usagef("--node-policy is for jobs that are placed on nodes; name those with --nodes")
	case o.nodes == "" && c.IsSet(unitName):
		return usagef("--unit is about the sizes of nodes; name those with --nodes")
	case c.IsSet("gantt") && o.gantt == "":
		return usagef("--gantt is empty; name a file, or - for standard output")
	case o.nodes == "" && c.IsSet("gantt"):
		return usagef("--gantt draws nodes; name those with --nodes")
	case o.nodes == "-" && o.trace == "-":
		return usagef("the trace and --nodes cannot both come from standard input")
	}
	o.nodePolicy, err = placer.ParsePolicy(c.String("node-policy"))
	switch {
	case err != nil:
		return usagef("--node-policy: %w", err)
	case o.nodePolicy == placer.Local || o.nodePolicy == placer.Topology:
		return usagef("--node-policy %s goes by settings of a database, which a simulation has not", o.nodePolicy)
	case o.nodePolicy == placer.NoPolicy:
		o.nodePolicy = placer.FirstAvailable
	}
	o.units, err = readUnits(c, index.NewDefs())
	return err
}

// readShares reads the flags that are about class shares: the settings are those of
// the command line, else those of the database.
func (r *runner) readShares(c *cli.Context, o *simulateOptions) error {
	if !c.IsSet("shares") {
		if c.IsSet("class") || c.IsSet("class-map") {
			return usagef("--class and --class-map are for --shares, which says what a job's requestor is")
		}
		return nil
	}
	by, settings := c.String("shares"), new(fairshare.Settings)
	switch err := simulate.CheckRequestor(by); {
	case err != nil:
		return usagef("--shares: %w", err)
	case slices.Contains(o.policies, backfill.Conservative):
		return usagef("--shares goes with fcfs and easy; conservative promises every job a start, which shares would take back")
	}
	if !c.IsSet("class") {
		if err := r.view(func(tx *store.Tx) (err error) { settings, err = tx.Shares(); return err }); err != nil {
			return err
		}
		if len(settings.Loads) == 0 {
			return usagef("--shares: %s has no classes; name them with --class NAME=LOAD", r.DB)
		}
	}
	err := addClasses(c, settings)
	if err == nil {
		o.shares, err = simulate.NewShares(by, settings)
	}
	if err != nil {
		return usagef("%w", err)
	}
	return nil
}

// addClasses adds the classes and mappings of the command line.
func addClasses(c *cli.Context, settings *fairshare.Settings) error {
	loads, err := classPairs(c.StringSlice("class"), "LOAD")
	if err != nil {
		return fmt.Errorf("--class: %w", err)
	}
	for _, p := range loads {
		load, err := parseClassLoad(p)
		if err != nil {
			return fmt.Errorf("--class: %w", err)
		}
		settings.Loads = append(settings.Loads, load)
	}
	mappings, err := classPairs(c.StringSlice("class-map"), "REGEXP")
	if err != nil {
		return fmt.Errorf("--class-map: %w", err)
	}
	for _, p := range mappings {
		settings.Map = append(settings.Map, fairshare.Mapping{Class: p.class, Requestor: p.value})
	}
	return nil
}
