package simulate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/nodefile"
	"github.com/placectl/placectl/cmd/placectl/internal/sharefile"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/backfill"
	"github.com/placectl/placectl/placer/fairshare"
	"github.com/placectl/placectl/placer/preempt"
)

// Flags are the flags of a command line.
type Flags interface {
	IsSet(name string) bool
	String(name string) string
	Bool(name string) bool
	Int64(name string) int64
	StringSlice(name string) []string
}

// Asked is what a command line asks for.
type Asked struct {
	Trace     string
	Procs     int64 // 0 for the trace's number
	Policies  []Rule
	Compare   bool // the answer has a row for each policy
	Requested bool
	Durations Durations
	Forecast  bool   // report how well starts are forecast
	CSV, HTML string // files for the starts and the page, "" for none

	Nodes      string          // the file of nodes, "" to count processors
	Units      *nodefile.Units // for that file
	NodePolicy placer.Policy

	Shares *Shares // nil for none
	Ranks  *preempt.Ranks
}

// ReadFlags reads the flags for simulating a trace. known returns the database's class shares, which
// apply if the command line names no classes.
func ReadFlags(c Flags, trace string, known func() (*fairshare.Settings, error)) (*Asked, error) {
	o := &Asked{Trace: trace, Procs: c.Int64("procs"), Requested: c.Bool("requested"), CSV: c.String("csv"),
		HTML: c.String("html"), Compare: c.IsSet("compare"), Nodes: c.String("nodes")}
	words := []string{c.String("policy")}
	flag := "policy"
	if o.Compare {
		flag, words = "compare", strings.Split(c.String("compare"), ",")
	}
	for _, word := range words {
		r, err := ParseRule(word)
		if err != nil {
			return nil, usage.Errorf("%s: %w", "--"+flag, err)
		}
		o.Policies = append(o.Policies, r)
	}
	if c.IsSet("slack") {
		slack, err := ParseSlack(c.String("slack"))
		switch {
		case err != nil:
			return nil, usage.Errorf("--slack: %w", err)
		case o.Compare || o.Policies[0].Policy != backfill.Relaxed:
			return nil, usage.Errorf("--slack is for --policy relaxed; with --compare write relaxed:%s",
				c.String("slack"))
		}
		o.Policies[0].Slack = slack
	}
	for _, flag := range []string{"csv", "html"} {
		switch {
		case o.Compare && c.IsSet(flag):
			return nil, usage.Errorf("--%s needs one policy: use --policy instead of --compare", flag)
		case c.IsSet(flag) && c.String(flag) == "":
			return nil, usage.Errorf("--%s is empty; name a file, or - for standard output", flag)
		}
	}
	if c.IsSet("procs") && (o.Procs < 1 || o.Procs > backfill.MaxProcs) {
		return nil, usage.Errorf("--procs %d: it must be from 1 to %d", o.Procs, int64(backfill.MaxProcs))
	}
	if err := o.readDurations(c); err != nil {
		return nil, err
	}
	if err := o.readForecast(c); err != nil {
		return nil, err
	}
	if err := o.readNodeFlags(c); err != nil {
		return nil, err
	}
	if err := o.readPreempt(c); err != nil {
		return nil, err
	}
	return o, o.readShares(c, known)
}

// readForecast reads the flags for forecasts.
func (o *Asked) readForecast(c Flags) error {
	if o.Forecast = c.Bool("forecast"); !o.Forecast {
		return nil
	}
	for _, flag := range []string{"shares", "preempt", "by", "csv", "html"} {
		if c.IsSet(flag) {
			return usage.Errorf("--forecast excludes --%s", flag)
		}
	}
	if o.Nodes == "" && slices.ContainsFunc(o.Policies, func(r Rule) bool {
		return r.Policy == backfill.Conservative
	}) {
		return usage.Errorf("without --nodes, --forecast needs fcfs, easy or relaxed")
	}
	return nil
}

// readPreempt reads the rules of preemption.
func (o *Asked) readPreempt(c Flags) error {
	var rules []*preempt.Rule
	for _, text := range c.StringSlice("preempt") {
		rule, err := preempt.Parse(text)
		switch {
		case err != nil:
			return usage.Errorf("--preempt: %w", err)
		case rule.Soft:
			return usage.Errorf("--preempt %s: a simulation has no limits to exceed", rule)
		case o.Nodes == "":
			return usage.Errorf("--preempt needs nodes: add --nodes")
		}
		rules = append(rules, rule)
	}
	ranks, err := preempt.NewRanks(rules)
	if err != nil {
		return usage.Errorf("--preempt: %w", err)
	}
	o.Ranks = ranks
	return nil
}

// readNodeFlags reads the flags for nodes.
func (o *Asked) readNodeFlags(c Flags) (err error) {
	switch {
	case c.IsSet("nodes") && o.Nodes == "":
		return usage.Errorf("--nodes is empty; name a file of nodes")
	case o.Nodes == "" && c.IsSet("node-policy"):
		return usage.Errorf("--node-policy needs nodes: add --nodes")
	case o.Nodes == "" && c.IsSet("unit"):
		return usage.Errorf("--unit needs nodes: add --nodes")
	case o.Nodes == "-" && o.Trace == "-":
		return usage.Errorf("the trace and --nodes cannot both come from standard input")
	}
	o.NodePolicy, err = placer.ParsePolicy(c.String("node-policy"))
	switch {
	case err != nil:
		return usage.Errorf("--node-policy: %w", err)
	case o.NodePolicy == placer.Local || o.NodePolicy == placer.Topology:
		return usage.Errorf("--node-policy %s depends on the settings of a database, and a simulation has none",
			o.NodePolicy)
	case o.NodePolicy == placer.NoPolicy:
		o.NodePolicy = placer.FirstAvailable
	}
	if o.Units, err = nodefile.ParseUnits(c.StringSlice("unit"), index.NewDefs()); err != nil {
		return usage.Errorf("--unit %w", err)
	}
	return nil
}

// readShares reads the flags for class shares. The settings come from the command line, or else from
// the database.
func (o *Asked) readShares(c Flags, known func() (*fairshare.Settings, error)) (err error) {
	if !c.IsSet("shares") {
		if c.IsSet("class") || c.IsSet("class-map") {
			return usage.Errorf("--class and --class-map need --shares, which chooses the requestor of a job")
		}
		return nil
	}
	by, settings := c.String("shares"), new(fairshare.Settings)
	switch err := CheckRequestor(by); {
	case err != nil:
		return usage.Errorf("--shares: %w", err)
	case slices.ContainsFunc(o.Policies, func(r Rule) bool { return r.Policy == backfill.Conservative }):
		return usage.Errorf("--shares needs fcfs or easy: conservative promises every job a start, which shares " +
			"would break")
	case slices.ContainsFunc(o.Policies, func(r Rule) bool { return r.Policy == backfill.Relaxed }):
		return usage.Errorf("--shares needs fcfs or easy: relaxed promises a start, which shares would break")
	}
	if !c.IsSet("class") {
		if settings, err = known(); err != nil {
			return err
		}
	}
	err = addClasses(c, settings)
	if err == nil {
		o.Shares, err = NewShares(by, settings)
	}
	if err != nil {
		return usage.Errorf("%w", err)
	}
	return nil
}

// addClasses adds the command line's classes and mappings.
func addClasses(c Flags, settings *fairshare.Settings) error {
	loads, err := sharefile.Pairs(c.StringSlice("class"), "LOAD")
	if err != nil {
		return fmt.Errorf("--class: %w", err)
	}
	for _, p := range loads {
		load, err := sharefile.ParseLoad(p)
		if err != nil {
			return fmt.Errorf("--class: %w", err)
		}
		settings.Loads = append(settings.Loads, load)
	}
	mappings, err := sharefile.Pairs(c.StringSlice("class-map"), "REGEXP")
	if err != nil {
		return fmt.Errorf("--class-map: %w", err)
	}
	for _, p := range mappings {
		settings.Map = append(settings.Map, fairshare.Mapping{Class: p.Class, Requestor: p.Value})
	}
	return nil
}
