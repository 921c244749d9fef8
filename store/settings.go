package store

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store/internal/row"
)

// Settings are the store's settings, read and given their defaults.
type Settings struct {
	Signature    []string // resources that make up signatures; empty: all that may
	GroupKey     []string // resources whose values make placement sets; empty: none
	ExplicitSets bool     // nodes without a value of the key are in no set
	DoNotSpan    bool     // a request that fits no placement set never runs
	ExactFit     bool     // chunks that compete for nodes are assigned exactly, not first fit
	Policy       placer.Policy
	PriorityF    string       // of policy priority, "" for placer.DefaultPriorityF
	Access       index.Access // whose jobs may be on a node together, where neither it nor they say
	Topology     []string     // resources that name a node's switches, the outermost first
	SetOrder     placer.SetOrder
	// SetDelay is how long a request that would fit a placement set waits for one, before
	// it spans them: 0 for ever, negative not at all.
	SetDelay        time.Duration
	LocalProgram    []string // of policy local
	LocalTimeout    time.Duration
	DefaultWalltime time.Duration
	FinishOverdue   bool           // jobs past their end have ended; else they keep their nodes
	KeepEnded       time.Duration  // for how long jobs that have ended are kept; 0: for ever
	KeepKeys        time.Duration  // for how long answers to requests with a key are kept
	Bind            devices.Policy // how devices are chosen for jobs that do not say
	Launch          string         // how jobs are launched: LaunchExec, LaunchWork, or "" while nobody has
	ShareUnit       string         // what class shares count: UnitNodes, or the name of a consumable
	LaunchDB        string         // how hosts that execute jobs find the database: a path, or ssh://[USER@]HOST/PATH; "": as they find the host that makes the cycle
	StateDir        string         // where hosts keep what they execute, an absolute path; "": where the runner has it
	Hook            []string       // the program that is handed the events, and its arguments; empty: none
	Health          []string       // the program that says whether a node is healthy, and its arguments; empty: none
	SuspectAfter    int            // so many different jobs that a node refuses have it drained; 0: none have
	SuspectWindow   time.Duration  // within so long
	LostAfter       time.Duration  // attempts on a host of which nobody is heard for so long are unreachable; 0: never
	Pin             string         // whether jobs are kept to their cores: PinCores, or none
	Detect          string         // what is done about devices that a host is found to lack: drain, warn or off
	Server          string         // of PBS front-ends: what stands behind the numbers of jobs
	Partition       string         // of front-ends: what nodes and jobs without a queue are in
	Kick            bool           // front-ends have a cycle made after what they change
	JobPriority     string         // what jobs that wait are put in order by; "": what they were submitted with
	PriorityEvery   time.Duration  // it is evaluated at whole multiples of this
	HalfLife        time.Duration  // after so long use counts half
	Decays          bool           // such use is kept
	MinJobAge       time.Duration  // for how long squeue lists jobs that have ended
	Backfill        Backfill       // how far cycles plan ahead that are not told
	Depth           int            // how many jobs that do not fit they plan with EASY
	Enforce         string         // how memory is kept to what was asked for: auto, cgroup, poll or none
}

// PinCores is the setting pin that keeps jobs to the cores that they hold.
const PinCores = "cpus"

// Setting describes one setting.
type Setting struct {
	Name    string
	Value   string // as set, or the default
	Default string
	Set     bool // somebody set it
	Doc     string
}

type settingDef struct {
	name, value, doc string
	read             func(defs *index.Defs, v string, s *Settings) error
}

// settingDefs are all settings there are, with their defaults.
var settingDefs = []settingDef{
	{"access", "shared", "whose jobs may be on a node together: shared, singleuser, singlejob or singletask",
		func(_ *index.Defs, v string, s *Settings) (err error) {
			s.Access, err = index.ParseAccess(v)
			return err
		}},
	{"backfill", "easy", "how cycles plan ahead: easy (the first that does not fit, the others around it), fcfs (nobody passes one that does not fit) or conservative (all are planned)",
		func(_ *index.Defs, v string, s *Settings) (err error) {
			if s.Backfill, err = ParseBackfill(v); err == nil && s.Backfill == AsSet {
				s.Backfill = EASY
			}
			return err
		}},
	{"bind", "compact", "how devices are chosen on nodes that name theirs: compact (evenly from few groups), tight (one group after the other) or scatter (evenly from all)",
		func(_ *index.Defs, v string, s *Settings) (err error) {
			if s.Bind, err = devices.ParsePolicy(v); err == nil && s.Bind == devices.NoPolicy {
				s.Bind = devices.Compact
			}
			return err
		}},
	{"chunk_fit", "first", "how chunks that compete for nodes share them: first (in the order of the select, as OpenPBS) or exact",
		func(_ *index.Defs, v string, s *Settings) error {
			if s.ExactFit = v == "exact"; !s.ExactFit && v != "first" {
				return fmt.Errorf("%q is neither first nor exact", v)
			}
			return nil
		}},
	{"default_partition", "main", "the queue that qsub, sbatch and their likes show for nodes and jobs without one",
		func(_ *index.Defs, v string, s *Settings) error { return readName(v, &s.Partition) }},
	{"default_walltime", "3600", "seconds that a request without a walltime gets",
		func(_ *index.Defs, v string, s *Settings) error { return readSeconds(v, 1, &s.DefaultWalltime) }},
	{"depth", "1", "how many jobs that do not fit a cycle plans with backfill easy",
		func(_ *index.Defs, v string, s *Settings) error {
			if err := readCount(v, mostPlanned, &s.Depth); err != nil || s.Depth < 1 {
				return fmt.Errorf("%q is not a number from 1 to %d", v, mostPlanned)
			}
			return nil
		}},
	{"detect", "warn", "what the first pass after a host was started does about devices that the host is found to lack: drain (them), warn (an event says so) or off",
		func(_ *index.Defs, v string, s *Settings) error {
			return readWord(v, &s.Detect, "drain", "warn", "off")
		}},
	{"do_not_span_sets", "false", "a request that fits no placement set never runs, rather than span them",
		func(_ *index.Defs, v string, s *Settings) error { return readBool(v, &s.DoNotSpan) }},
	{"enforce", "auto", "how jobs are kept to the memory they asked for: cgroup (or they are refused), poll (their sum is looked at each second), auto (cgroup where one is to be had), none",
		func(_ *index.Defs, v string, s *Settings) error {
			return readWord(v, &s.Enforce, "auto", "cgroup", "poll", "none")
		}},
	{"group_key", "", "resources whose values split the nodes into placement sets, e.g. switch,rack",
		func(defs *index.Defs, v string, s *Settings) error {
			return readResources(defs, v, &s.GroupKey, groupable)
		}},
	{"half_life", "", "after how long what jobs have had counts half for FAIRSHARE, USAGE and TARGET in job_priority: a number with s, m, h or d; empty: 7d, and it is only kept while job_priority names one of them", readHalfLife},
	{"health", "", "a program that passes run before they execute anything: ends it with another status than 0 the node is drained, with its last line as the reason", func(_ *index.Defs, v string, s *Settings) error { s.Health = strings.Fields(v); return nil }},
	{"hook", "", "a program that reads what happens as JSON lines: a cycle or pass of the file's owner runs it; such as docs/hooks/mail", func(_ *index.Defs, v string, s *Settings) error { s.Hook = strings.Fields(v); return nil }},
	{"keep_ended", "", "for how long jobs that have ended are kept, with their events, before a cycle drops them; empty: for ever, see placectl archive",
		func(_ *index.Defs, v string, s *Settings) error {
			if v == "" {
				s.KeepEnded = 0
				return nil
			}
			return readSpan(v, &s.KeepEnded)
		}},
	{"keep_keys", "30d", "for how long the answer to a request with a key is kept, and until its jobs have ended: seconds, or a number with s, m, h or d",
		func(_ *index.Defs, v string, s *Settings) error {
			if err := readSpan(v, &s.KeepKeys); err != nil {
				return err
			}
			if s.KeepKeys < time.Minute {
				return fmt.Errorf("%q is less than a minute: what is asked again with its key, because its answer was lost, would be done twice", v)
			}
			return nil
		}},
	{"job_priority", "", "what jobs that wait are put in order by, an expression as " + placer.DefaultJobPriority + " + AGE/3600, or fifo, slurm or maui: placectl help priority; empty: " + placer.DefaultJobPriority, readJobPriority},
	{"kick", "auto", "whether qsub, sbatch and their likes have a cycle --launch made after what they change: auto (where jobs are not launched by exec, and no work --cycle is at it) or never",
		func(_ *index.Defs, v string, s *Settings) error {
			if s.Kick = v == "auto"; !s.Kick && v != "never" {
				return fmt.Errorf("%q is neither auto nor never", v)
			}
			return nil
		}},
	{"launch", "", "how jobs are launched: exec (cycle --exec tells the site's launcher) or work (passes start a supervisor for each); the first of them decides",
		func(_ *index.Defs, v string, s *Settings) error {
			if s.Launch = v; v != "" && v != LaunchExec && v != LaunchWork {
				return fmt.Errorf("%q is neither exec nor work", v)
			}
			return nil
		}},
	{"launch_db", "", "how other hosts find this database when cycle --launch has them make passes: a path, or ssh://[USER@]HOST/PATH; empty: the path on a network file system, else over ssh from the host of the cycle",
		func(_ *index.Defs, v string, s *Settings) error {
			if s.LaunchDB = v; v != "" && !strings.HasPrefix(v, "/") {
				_, _, err := SplitURL(v)
				return err
			}
			return nil
		}},
	{"local_program", "", "of policy local: it reads candidate nodes as JSON lines and writes names in order",
		func(_ *index.Defs, v string, s *Settings) error {
			s.LocalProgram = strings.Fields(v)
			return nil
		}},
	{"local_timeout", "10", "seconds that the program of policy local may take",
		func(_ *index.Defs, v string, s *Settings) error { return readSeconds(v, 1, &s.LocalTimeout) }},
	{"lost_after", "30m", "after how long without a word of a host its jobs are unreachable, and nothing new starts there: seconds, or a number with s, m, h or d; 0: never", func(_ *index.Defs, v string, s *Settings) error { return readSpan(v, &s.LostAfter) }},
	{"min_job_age", "300", "seconds for which squeue lists jobs that have ended; a number with s, m, h or d",
		func(_ *index.Defs, v string, s *Settings) error { return readSpan(v, &s.MinJobAge) }},
	{"only_explicit_sets", "false", "nodes that lack the group key are in no placement set",
		func(_ *index.Defs, v string, s *Settings) error { return readBool(v, &s.ExplicitSets) }},
	{"overdue", "keep", "jobs past their walltime keep their nodes (keep) or have ended (finish)",
		func(_ *index.Defs, v string, s *Settings) error {
			if s.FinishOverdue = v == "finish"; !s.FinishOverdue && v != "keep" {
				return fmt.Errorf("%q is neither keep nor finish", v)
			}
			return nil
		}},
	{"pin", "none", "whether a job may use only the cores that it holds (cpus), on nodes that name theirs; or any (none): PLACECTL_CPUS says in both cases which it holds",
		func(_ *index.Defs, v string, s *Settings) error { return readWord(v, &s.Pin, "none", PinCores) }},
	{"policy", "firstavailable", "which of the nodes that could serve a request are taken: " + policyNames(),
		func(_ *index.Defs, v string, s *Settings) (err error) {
			s.Policy, err = placer.ParsePolicy(v)
			return err
		}},
	{"priority_every", "300", "job_priority is evaluated at whole multiples of this: seconds, or a number with s, m, h or d", func(_ *index.Defs, v string, s *Settings) error { return readAtLeast(v, time.Second, &s.PriorityEvery) }},
	{"priorityf", "", "what policy priority goes by, for nodes without one of their own; empty: " + placer.DefaultPriorityF,
		func(defs *index.Defs, v string, s *Settings) error {
			if s.PriorityF = v; v == "" {
				return nil
			}
			_, err := placer.ParsePriorityF(defs, v)
			return err
		}},
	{"server", "placectl", "what stands behind the numbers of jobs for users of PBS: 12.placectl",
		func(_ *index.Defs, v string, s *Settings) error { return readName(v, &s.Server) }},
	{"set_delay", "forever", "seconds that a request which would fit a placement set waits for one, before it spans them; 0: it does not wait",
		func(_ *index.Defs, v string, s *Settings) error {
			if v == "forever" {
				s.SetDelay = 0
				return nil
			}
			if err := readSeconds(v, 0, &s.SetDelay); err != nil {
				return fmt.Errorf("%w, or forever", err)
			}
			if s.SetDelay == 0 {
				s.SetDelay = -time.Second
			}
			return nil
		}},
	{"set_order", "smallest", "which placement set is tried first: smallest (by cpus), first (as declared) or largest",
		func(_ *index.Defs, v string, s *Settings) error {
			i := slices.Index([]string{"smallest", "first", "largest"}, v)
			if i < 0 {
				return fmt.Errorf("%q is neither smallest, first nor largest", v)
			}
			s.SetOrder = placer.SetOrder(i)
			return nil
		}},
	{"share_unit", "ncpus", "what class shares count: ncpus, nodes, or another consumable resource",
		func(defs *index.Defs, v string, s *Settings) error { return readUnit(defs, v, &s.ShareUnit) }},
	{"signature", "", "resources whose values make a bucket; empty: all that are not unique",
		func(defs *index.Defs, v string, s *Settings) error {
			return readResources(defs, v, &s.Signature, signable)
		}},
	{"state_dir", "", "where hosts keep what they execute, a directory of their own, not shared by network; empty: /var/tmp/placectl-UID",
		func(_ *index.Defs, v string, s *Settings) error {
			if s.StateDir = v; v != "" && !strings.HasPrefix(v, "/") {
				return fmt.Errorf("%q is no absolute path", v)
			}
			return nil
		}},
	{"suspect_after", "3", "a node that has refused so many different jobs, and executed none in between, is drained; 0: it is not", func(_ *index.Defs, v string, s *Settings) error { return readCount(v, 100, &s.SuspectAfter) }},
	{"suspect_window", "1h", "within how long those jobs count: seconds, or a number with s, m, h or d", func(_ *index.Defs, v string, s *Settings) error { return readSpan(v, &s.SuspectWindow) }},
	{"topology", "", "resources that name the switches above a node, the outermost first, for policy topology, e.g. row,rack,switch",
		func(defs *index.Defs, v string, s *Settings) error {
			return readResources(defs, v, &s.Topology, groupable)
		}},
}

func policyNames() string {
	var names []string
	for _, p := range placer.Policies() {
		names = append(names, p.String())
	}
	return strings.Join(names, ", ")
}

// readSeconds reads a number of seconds.
func readSeconds(v string, least int64, to *time.Duration) error {
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil || n < least || n > maxWalltime {
		return fmt.Errorf("%q is not a number of seconds from %d to %d", v, least, int64(maxWalltime))
	}
	*to = lasting(n)
	return nil
}

// mostPlanned bounds the setting depth: more is conservative.
const mostPlanned = 1_000_000

// readCount reads a number up to a limit.
func readCount(v string, most int, to *int) (err error) {
	if *to, err = strconv.Atoi(v); err != nil || *to < 0 || *to > most {
		return fmt.Errorf("%q is not a number from 0 to %d", v, most)
	}
	return nil
}

// defaultKeepKeys is the default of keep_keys.
const defaultKeepKeys = 30 * 24 * time.Hour

// readSpan reads a number of seconds, or one of minutes, hours or days with their letter.
func readSpan(v string, to *time.Duration) error {
	units := map[byte]int64{'s': 1, 'm': 60, 'h': 3600, 'd': 86400}
	digits, unit := v, int64(1)
	if n := len(v); n > 0 && units[v[n-1]] > 0 {
		digits, unit = v[:n-1], units[v[n-1]]
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || n > maxWalltime/unit {
		return fmt.Errorf("%q is not a time such as 3600, 90m, 12h or 30d", v)
	}
	*to = lasting(n * unit)
	return nil
}

// maxWalltime bounds walltimes, in seconds: a hundred years.
const maxWalltime = 100 * 366 * 86400

// readWord reads one of some words.
func readWord(v string, to *string, words ...string) error {
	*to = v
	if slices.Contains(words, v) {
		return nil
	}
	return fmt.Errorf("%q is not %s or %s", v, strings.Join(words[:len(words)-1], ", "), words[len(words)-1])
}

func readBool(v string, to *bool) error {
	b, err := strconv.ParseBool(strings.ToLower(v))
	*to = b
	if err != nil {
		return fmt.Errorf("%q is neither true nor false", v)
	}
	return nil
}

func readResources(defs *index.Defs, v string, to *[]string, fit func(*index.Defs, index.Def) error) error {
	for name := range strings.SplitSeq(v, ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		def, ok := defs.Lookup(name)
		if !ok {
			return fmt.Errorf("no resource %q%s: %w", name, index.DidYouMean(name, defs.Names()), ErrNotFound)
		}
		if err := fit(defs, def); err != nil {
			return err
		}
		if !slices.Contains(*to, def.Name) {
			*to = append(*to, def.Name)
		}
	}
	return nil
}

func signable(defs *index.Defs, def index.Def) error {
	if !defs.MaySign(def) {
		return fmt.Errorf("%s cannot be part of a signature: it is unique to a node, or nodes are not asked for it", def.Name)
	}
	return nil
}

func groupable(_ *index.Defs, def index.Def) error {
	if def.Type != index.String && def.Type != index.StringArray || def.ID == index.Host || def.ID == index.VNode {
		return fmt.Errorf("%s cannot be a group key: that takes a string or string_array resource", def.Name)
	}
	return nil
}

// readName reads a name of letters, digits, dots, dashes and underscores.
func readName(v string, to *string) error {
	if *to = v; v == "" || strings.ContainsFunc(v, func(c rune) bool {
		return c != '.' && c != '-' && c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9')
	}) {
		return fmt.Errorf("%q has other characters than letters, digits, dots, dashes and underscores", v)
	}
	return nil
}

// signature lists the signature resources by number.
func (s *Settings) signature(defs *index.Defs) []index.ResID {
	if len(s.Signature) == 0 {
		return defs.DefaultSignature()
	}
	return resIDs(defs, s.Signature)
}

func resIDs(defs *index.Defs, names []string) []index.ResID {
	var ids []index.ResID
	for _, name := range names {
		if def, ok := defs.Lookup(name); ok {
			ids = append(ids, def.ID)
		}
	}
	return ids
}

// Settings are the store's settings, a copy.
func (tx *Tx) Settings() (*Settings, error) {
	set, err := tx.settings()
	if err != nil {
		return nil, err
	}
	s := *set
	for _, list := range []*[]string{&s.Signature, &s.GroupKey, &s.Topology, &s.LocalProgram, &s.Hook, &s.Health} {
		*list = slices.Clone(*list)
	}
	return &s, nil
}

// settings reads the settings once; what it returns is for reading only.
func (tx *Tx) settings() (*Settings, error) {
	if tx.loaded.settings != nil {
		return tx.loaded.settings, nil
	}
	defs, err := tx.Resources()
	if err != nil {
		return nil, err
	}
	set := make(map[string]string)
	err = tx.file.Each(row.Config, nil, func(k, payload []byte) (bool, error) {
		set[string(k)] = row.DecodeText(payload)
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	s := new(Settings)
	for _, def := range settingDefs {
		v, ok := set[def.name]
		if !ok {
			v = def.value
		}
		if err := def.read(defs, v, s); err != nil {
			return nil, fmt.Errorf("%w: setting %s: %v", ErrDamaged, def.name, err)
		}
	}
	tx.loaded.settings = s
	return s, nil
}

// AllSettings lists every setting with its value.
func (tx *Tx) AllSettings() ([]Setting, error) {
	var out []Setting
	for _, def := range settingDefs {
		payload, err := tx.file.Get(row.Config, []byte(def.name))
		if err != nil {
			return nil, err
		}
		s := Setting{Name: def.name, Value: def.value, Default: def.value, Doc: def.doc}
		if payload != nil {
			s.Value, s.Set = row.DecodeText(payload), true
		}
		out = append(out, s)
	}
	return out, nil
}

// SettingNames lists the settings there are.
func SettingNames() []string {
	names := make([]string, len(settingDefs))
	for i, def := range settingDefs {
		names[i] = def.name
	}
	return names
}

// Configure changes a setting; an empty value puts the default back. Changing
// the signature sorts all nodes into buckets anew.
func (tx *Tx) Configure(name, value string) error {
	if !tx.Writable() {
		return ErrReadOnly
	}
	i := slices.IndexFunc(settingDefs, func(d settingDef) bool { return d.name == name })
	if i < 0 {
		return fmt.Errorf("no setting %q%s: %w", name, index.DidYouMean(name, SettingNames()), ErrNotFound)
	}
	defs, err := tx.Resources()
	if err != nil {
		return err
	}
	was, err := tx.file.Get(row.Config, []byte(name))
	if err != nil {
		return err
	}
	if was == nil || row.DecodeText(was) != value {
		tx.loaded.freed.Anywhere()
	}
	if value == "" {
		err = tx.file.Remove(row.Config, []byte(name))
	} else {
		if err := settingDefs[i].read(defs, value, new(Settings)); err != nil {
			return fmt.Errorf("%w setting %s: %w", ErrInvalid, name, err)
		}
		err = tx.file.Put(row.Config, []byte(name), row.EncodeText(value))
	}
	tx.loaded.settings = nil
	if (name == "half_life" || name == "job_priority") && err == nil {
		tx.loaded.order = nil
		err = tx.loaded.book.DecayAnew()
	}
	if name == "hook" && err == nil {
		err = tx.Hook().set(value != "")
	}
	if err != nil || name != "signature" {
		return err
	}
	return tx.nodeIndex().rebuild()
}
