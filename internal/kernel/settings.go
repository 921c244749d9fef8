package kernel

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/shares"
	"github.com/placectl/placectl/placer"
)

// Settings are the store's settings, parsed and with defaults applied.
type Settings struct {
	Signature    []string // resources that make up signatures; empty: all possible ones
	GroupKey     []string // resources whose values make placement sets; empty: none
	ExplicitSets bool     // nodes without a value of the key are in no set
	DoNotSpan    bool     // a request that fits no placement set never runs
	ExactFit     bool     // chunks that compete for nodes are assigned exactly, not first fit
	Policy       placer.Policy
	PriorityF    string       // for the policy priority; "" for priorityf.Default
	Access       index.Access // whose jobs may be on a node together, if neither it nor they say
	Topology     []string     // resources that name a node's switches, the outermost first
	SetOrder     placer.SetOrder
	// SetDelay is how long a request that fits a placement set waits for one before it spans
	// sets. 0 means forever, and a negative value means no wait.
	SetDelay        time.Duration
	LocalProgram    []string // for the policy local
	LocalTimeout    time.Duration
	DefaultWalltime time.Duration
	FinishOverdue   bool           // jobs end at their walltime; otherwise they keep their nodes
	KeepEnded       time.Duration  // how long ended jobs are kept; 0 for ever
	KeepKeys        time.Duration  // how long answers of idempotency keys are kept
	Bind            devices.Policy // how devices are chosen for jobs without a policy
	Launch          string         // how jobs are launched: LaunchExec, LaunchWork, or "" before the first launch
	ShareUnit       string         // the unit of class shares: UnitNodes, or the name of a consumable
	// how hosts that execute jobs find the database: a path, or ssh://[USER@]HOST/PATH; "" for the host that
	// makes the cycle
	LaunchDB string
	// directory for the state of executed jobs, an absolute path; "": the runner's default
	StateDir      string
	Hook          []string      // the program that receives the events, and its arguments; empty for none
	Health        []string      // the program that checks a node's health, and its arguments; empty for none
	SuspectAfter  int           // a node that refuses this many different jobs is drained; 0 for never
	SuspectWindow time.Duration // within this time
	ClaimWithin   time.Duration // an attempt that no process has claimed after this is queued again
	// attempts on a host are unreachable after this long without a heartbeat; 0 for never
	LostAfter     time.Duration
	Pin           string // whether jobs are kept to their cores: PinCores, or none
	Detect        string // action for missing devices of a host: drain, warn or off
	Server        string // for PBS front-ends: the server, which follows the numbers of jobs
	Partition     string // for front-ends: the partition or queue of nodes and jobs without a queue
	Feasible      bool   // refuse jobs that can never run on the present cluster
	Start         string // StartAuto, StartManual, or "" if not set
	Path          string // PATH of the process that runs the queue
	JobPriority   string // the expression that orders waiting jobs; "" for their own priority
	PriorityMin   int64  // limits for users other than operators
	PriorityMax   int64
	PriorityEvery time.Duration // job_priority is evaluated at whole multiples of this
	HalfLife      time.Duration // after this long, use counts half
	Decays        bool          // use with a half-life is kept
	Ages          bool          // how long jobs have waited matters
	MaxArray      int
	MinJobAge     time.Duration // how long squeue lists ended jobs
	Backfill      Backfill      // how far ahead cycles plan if they are not told
	Depth         int           // the number of jobs that do not fit and are planned, with EASY
	// how much later than its earliest start the first job may be promised one with Relaxed, in multiples of
	// its walltime
	Slack   float64
	Enforce string // how memory limits are enforced: auto, cgroup, poll or none
}

// claimWithinManual is ClaimWithin unless it is set where cron makes the passes, which come rarely.
const claimWithinManual = 15 * time.Minute

// PinCores is the value of the setting pin that keeps jobs to the cores they hold.
const PinCores = "cpus"

// Setting describes one setting.
type Setting struct {
	Name    string
	Value   string // as set, or the default
	Default string
	Set     bool // it was set and may differ from the default
	Doc     string
}

// IndexedBy lists the signature resources by number.
func (s *Settings) IndexedBy(defs *index.Defs) []index.ResID {
	if len(s.Signature) == 0 {
		return defs.DefaultSignature()
	}
	return ResIDs(defs, s.Signature)
}

func ResIDs(defs *index.Defs, names []string) []index.ResID {
	var ids []index.ResID
	for _, name := range names {
		if def, ok := defs.Lookup(name); ok {
			ids = append(ids, def.ID)
		}
	}
	return ids
}

// Settings reads the settings once; the result is read-only.
func (tx *Tx) Settings() (*Settings, error) {
	if tx.Loaded.Settings != nil {
		return tx.Loaded.Settings, nil
	}
	defs, err := tx.Resources()
	if err != nil {
		return nil, err
	}
	set := make(map[string]string)
	err = tx.File.Each(row.Config, nil, func(k, payload []byte) (bool, error) {
		set[string(k)] = row.DecodeText(payload)
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	s := new(Settings)
	for _, def := range SettingDefs {
		v, ok := set[def.Name]
		if !ok {
			v = def.Value
		}
		if err := def.read(defs, v, s); err != nil {
			return nil, fmt.Errorf("%w: setting %s: %v", row.ErrDamaged, def.Name, err)
		}
	}
	if _, ok := set["claim_within"]; !ok && s.Start != StartAuto {
		s.ClaimWithin = claimWithinManual
	}
	if s.Launch == "" && s.Start == StartAuto {
		s.Launch = LaunchWork
	}
	tx.Loaded.Settings = s
	return s, nil
}

// SettingNames lists the names of all settings.
func SettingNames() []string {
	names := make([]string, len(SettingDefs))
	for i, def := range SettingDefs {
		names[i] = def.Name
	}
	return names
}

// SettingWords returns the words that a setting accepts; nil if it accepts other values.
func SettingWords(name string) []string {
	words := ""
	switch name {
	case "accept":
		words = "any feasible"
	case "access":
		words = "shared singleuser singlejob singletask"
	case "backfill":
		words = "easy fcfs conservative relaxed"
	case "bind":
		words = "compact tight scatter"
	case "chunk_fit":
		words = "first exact"
	case "detect":
		words = "drain warn off"
	case "do_not_span_sets", "only_explicit_sets":
		words = "true false"
	case "enforce":
		words = "auto cgroup poll none"
	case "job_priority":
		words = "fifo slurm maui"
	case "launch":
		words = LaunchExec + " " + LaunchWork
	case "overdue":
		words = "keep finish"
	case "pin":
		words = "none " + PinCores
	case "policy":
		words = strings.ReplaceAll(policyNames(), ",", "")
	case "set_order":
		words = "smallest first largest"
	case "start":
		words = StartAuto + " " + StartManual
	case "share_unit":
		words = "ncpus " + shares.Nodes
	}
	return strings.Fields(words)
}

// maxSetting is the longest value of a setting, in bytes.
const maxSetting = 4096

// PutSetting writes the row of a setting.
func (tx *Tx) PutSetting(name, value string) error {
	i := slices.IndexFunc(SettingDefs, func(d settingDef) bool { return d.Name == name })
	if i < 0 {
		return fmt.Errorf("no setting %q%s: %w", name, index.DidYouMean(name, SettingNames()), row.ErrNotFound)
	}
	if len(value) > maxSetting {
		return fmt.Errorf("%w value of %s: it has %d bytes; at most %d are kept", row.ErrInvalid, name, len(value),
			maxSetting)
	}
	defs, err := tx.Resources()
	if err != nil {
		return err
	}
	was, err := tx.File.Get(row.Config, []byte(name))
	if err != nil {
		return err
	}
	if was == nil || row.DecodeText(was) != value {
		tx.Loaded.Freed.Anywhere()
	}
	if value == "" {
		err = tx.File.Remove(row.Config, []byte(name))
	} else {
		if err := SettingDefs[i].read(defs, value, new(Settings)); err != nil {
			return fmt.Errorf("%w setting %s: %w", row.ErrInvalid, name, err)
		}
		err = tx.File.Put(row.Config, []byte(name), row.EncodeText(value))
	}
	tx.Loaded.Settings, tx.Loaded.Reset = nil, append(tx.Loaded.Reset, name)
	return err
}

// agree fails with ErrInvalid if a setting that was changed contradicts another one. It is called
// when the transaction ends, so that one transaction may change both in any order.
func (tx *Tx) agree() error {
	if tx.Loaded.Reset == nil {
		return nil
	}
	s, err := tx.Settings()
	if err != nil {
		return err
	}
	one, other, why := s.contradiction()
	if slices.Contains(tx.Loaded.Reset, one) || slices.Contains(tx.Loaded.Reset, other) {
		return fmt.Errorf("%w settings: %s", row.ErrInvalid, why)
	}
	return nil
}

// contradiction returns two settings that contradict each other, and why, or empty texts.
func (s *Settings) contradiction() (one, other, why string) {
	switch {
	case s.PriorityMin > s.PriorityMax:
		return "priority_min", "priority_max", fmt.Sprintf("priority_min=%d is above priority_max=%d", s.PriorityMin,
			s.PriorityMax)
	case s.Policy == placer.Topology && len(s.Topology) == 0:
		return "policy", "topology", "policy topology needs the setting topology: the resources that name a node's " +
			"switches, e.g. row,rack,switch"
	}
	return "", "", ""
}

// The values of the setting start.
const (
	StartAuto   = "auto"   // commands that change the queue leave a process that runs it
	StartManual = "manual" // cron or a person runs cycles and passes
)
