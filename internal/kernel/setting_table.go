package kernel

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
	"github.com/placectl/placectl/internal/config"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/shares"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/priorityf"
)

type settingDef struct {
	Name, Value, Doc string
	read             func(defs *index.Defs, v string, s *Settings) error
}

// SettingDefs lists all settings with their defaults.
var SettingDefs = []settingDef{
	{"accept", "any", "jobs to accept: any (one that cannot run here waits until it can) or feasible (it is refused)",
		func(_ *index.Defs, v string, s *Settings) error {
			if s.Feasible = v == "feasible"; !s.Feasible && v != "any" {
				return fmt.Errorf("%q is neither any nor feasible", v)
			}
			return nil
		}},
	{"access", "shared", "sharing of nodes: shared, singleuser, singlejob or singletask",
		func(_ *index.Defs, v string, s *Settings) (err error) {
			s.Access, err = index.ParseAccess(v)
			return err
		}},
	{"backfill", "easy", "backfill of cycles: easy (plan the first job that does not fit, others go around it), fcfs " +
		"(no job passes it), conservative (plan all) or relaxed (promise it a start, the shortest go around it)",
		func(_ *index.Defs, v string, s *Settings) (err error) {
			if s.Backfill, err = ParseBackfill(v); err == nil && s.Backfill == AsSet {
				s.Backfill = EASY
			}
			return err
		}},
	{"bind", "compact", "choice of named devices: compact (few groups), tight (group by group) or scatter (all)",
		func(_ *index.Defs, v string, s *Settings) (err error) {
			if s.Bind, err = devices.ParsePolicy(v); err == nil && s.Bind == devices.NoPolicy {
				s.Bind = devices.Compact
			}
			return err
		}},
	{"chunk_fit", "first", "assignment of chunks that compete for nodes: first (select order, as OpenPBS) or exact",
		func(_ *index.Defs, v string, s *Settings) error {
			if s.ExactFit = v == "exact"; !s.ExactFit && v != "first" {
				return fmt.Errorf("%q is neither first nor exact", v)
			}
			return nil
		}},
	{"claim_within", "90", "time for a process to claim a started job before it is queued again; if it is not set " +
		"and start is not auto: 15m",
		func(_ *index.Defs, v string, s *Settings) error {
			return config.Duration(v, time.Second, &s.ClaimWithin)
		}},
	{"default_partition", "main", "queue that qsub, sbatch and so on show for nodes and jobs without one",
		func(_ *index.Defs, v string, s *Settings) error { return config.Name(v, &s.Partition) }},
	{"default_walltime", "3600", "walltime of requests without one, such as 3600 or 1h",
		func(_ *index.Defs, v string, s *Settings) error {
			return config.Duration(v, time.Second, &s.DefaultWalltime)
		}},
	{"depth", "1", "number of jobs that do not fit which a cycle plans with backfill easy",
		func(_ *index.Defs, v string, s *Settings) error {
			if err := config.Count(v, mostPlanned, &s.Depth); err != nil || s.Depth < 1 {
				return fmt.Errorf("%q is not a number from 1 to %d", v, mostPlanned)
			}
			return nil
		}},
	{"detect", "warn", "action of the first pass after a boot for missing devices: drain, warn (an event) or off",
		func(_ *index.Defs, v string, s *Settings) error {
			return config.Word(v, &s.Detect, "drain", "warn", "off")
		}},
	{"do_not_span_sets", "false", "refuse requests that fit no placement set, instead of spanning sets",
		func(_ *index.Defs, v string, s *Settings) error { return config.Bool(v, &s.DoNotSpan) }},
	{"enforce", "auto", "limits on memory and cores of jobs: cgroup (required), poll (memory is read each second), " +
		"auto (cgroup if available, else poll) or none",
		func(_ *index.Defs, v string, s *Settings) error {
			return config.Word(v, &s.Enforce, "auto", "cgroup", "poll", "none")
		}},
	{"group_key", "", "resources whose values split the nodes into placement sets, such as switch,rack",
		func(defs *index.Defs, v string, s *Settings) error {
			return config.Resources(defs, v, &s.GroupKey, Groupable)
		}},
	{"half_life", "", "age at which use counts half for FAIRSHARE, USAGE and TARGET in job_priority; empty: 7d, " +
		"recorded only while job_priority names one of them", readHalfLife},
	{"health", "", "program that passes run first: unless it exits with 0, the node is drained, with its last line " +
		"as the reason", func(_ *index.Defs, v string, s *Settings) error { s.Health = strings.Fields(v); return nil }},
	{"hook", "", "program that reads events as JSON lines, such as docs/hooks/mail; cycles and passes of the file's " +
		"owner run it", func(_ *index.Defs, v string, s *Settings) error { s.Hook = strings.Fields(v); return nil }},
	{"keep_ended", "", "how long to keep ended jobs and their events; empty: for ever, see placectl archive",
		func(_ *index.Defs, v string, s *Settings) error {
			if v == "" {
				s.KeepEnded = 0
				return nil
			}
			return config.Duration(v, 0, &s.KeepEnded)
		}},
	{"keep_keys", "30d", "how long to keep the answer to a request with a key, at least until its jobs have ended",
		func(_ *index.Defs, v string, s *Settings) error {
			if err := config.Duration(v, 0, &s.KeepKeys); err != nil {
				return err
			}
			if s.KeepKeys < time.Minute {
				return fmt.Errorf(
					"%q is less than a minute: a request repeated with its key after that would run twice", v)
			}
			return nil
		}},
	{"job_priority", "", "order of waiting jobs, an expression such as " + priorityf.DefaultJob +
		" + AGE/3600, or fifo, slurm or maui: placectl help --all priority; empty: " + priorityf.DefaultJob,
		readJobPriority},
	{"launch", "", "launcher of jobs: exec (the program of cycle --exec) or work (passes of work); the first one " +
		"used sets it",
		func(_ *index.Defs, v string, s *Settings) error {
			if s.Launch = v; v != "" && v != LaunchExec && v != LaunchWork {
				return fmt.Errorf("%q is neither exec nor work", v)
			}
			return nil
		}},
	{"launch_db", "", "name of this database for other hosts of cycle --launch: a path, or ssh://[USER@]HOST/PATH; " +
		"empty: its path on a network file system, else ssh to the host of the cycle",
		func(_ *index.Defs, v string, s *Settings) error {
			if s.LaunchDB = v; v != "" && !strings.HasPrefix(v, "/") {
				_, _, err := SplitURL(v)
				return err
			}
			return nil
		}},
	{"local_program", "", "program of policy local: it reads candidate nodes as JSON lines and writes names in order",
		func(_ *index.Defs, v string, s *Settings) error {
			s.LocalProgram = strings.Fields(v)
			return nil
		}},
	{"local_timeout", "10", "timeout of the program of policy local, such as 10s",
		func(_ *index.Defs, v string, s *Settings) error {
			return config.Duration(v, time.Second, &s.LocalTimeout)
		}},
	{"lost_after", "30m", "time without a heartbeat of a host after which its jobs are unreachable and nothing new " +
		"starts there; 0: never", func(_ *index.Defs, v string, s *Settings) error {
		return config.Duration(v, 0, &s.LostAfter)
	}},
	{"max_array", "10000", "greatest number of jobs in an array; while a larger one is submitted or cancelled, " +
		"others wait for longer",
		func(_ *index.Defs, v string, s *Settings) error {
			if err := config.Count(v, MaxArray, &s.MaxArray); err != nil || s.MaxArray < 1 {
				return fmt.Errorf("%q is not a number from 1 to %d", v, MaxArray)
			}
			return nil
		}},
	{"min_job_age", "300", "how long squeue lists jobs that have ended",
		func(_ *index.Defs, v string, s *Settings) error { return config.Duration(v, 0, &s.MinJobAge) }},
	{"only_explicit_sets", "false", "leave nodes without the group key out of placement sets",
		func(_ *index.Defs, v string, s *Settings) error { return config.Bool(v, &s.ExplicitSets) }},
	{"overdue", "keep", "jobs past their walltime: keep (they keep their nodes) or finish (they are ended)",
		func(_ *index.Defs, v string, s *Settings) error {
			if s.FinishOverdue = v == "finish"; !s.FinishOverdue && v != "keep" {
				return fmt.Errorf("%q is neither keep nor finish", v)
			}
			return nil
		}},
	{"path", "", "PATH of the queue runner (start=auto), for ssh and the programs of other settings; " +
		"empty: /usr/local/bin:/usr/bin:/bin", func(_ *index.Defs, v string, s *Settings) error {
		s.Path = v
		return nil
	}},
	{"pin", "none", "pin jobs to their cores (cpus) on nodes that name theirs, or not (none); PLACECTL_CPUS lists " +
		"them in both cases",
		func(_ *index.Defs, v string, s *Settings) error { return config.Word(v, &s.Pin, "none", PinCores) }},
	{"policy", "firstavailable", "order in which to take nodes: " + policyNames(),
		func(_ *index.Defs, v string, s *Settings) (err error) {
			s.Policy, err = placer.ParsePolicy(v)
			return err
		}},
	{"priority_every", "300", "interval at which job_priority is evaluated",
		func(_ *index.Defs, v string, s *Settings) error {
			return config.Duration(v, time.Second, &s.PriorityEvery)
		}},
	{"priority_max", "1000", "highest priority that users other than operators may give",
		func(_ *index.Defs, v string, s *Settings) error {
			return config.Between(v, -MaxPriority, MaxPriority, &s.PriorityMax)
		}},
	{"priority_min", "-1000", "lowest priority that users other than operators may give",
		func(_ *index.Defs, v string, s *Settings) error {
			return config.Between(v, -MaxPriority, MaxPriority, &s.PriorityMin)
		}},
	{"priorityf", "", "function of policy priority, for nodes without their own; empty: " + priorityf.Default,
		func(defs *index.Defs, v string, s *Settings) error {
			if s.PriorityF = v; v == "" {
				return nil
			}
			_, err := priorityf.Parse(defs, v)
			return err
		}},
	{"server", "placectl", "suffix of job numbers for users of PBS: 12.placectl",
		func(_ *index.Defs, v string, s *Settings) error { return config.Name(v, &s.Server) }},
	{"set_delay", "forever", "how long a request that would fit a placement set waits for one before it spans sets; " +
		"0: it does not wait",
		func(_ *index.Defs, v string, s *Settings) error {
			if v == "forever" {
				s.SetDelay = 0
				return nil
			}
			if err := config.Duration(v, 0, &s.SetDelay); err != nil {
				return fmt.Errorf("%w, or forever", err)
			}
			if s.SetDelay == 0 {
				s.SetDelay = -time.Second
			}
			return nil
		}},
	{"set_order", "smallest", "placement set to try first: smallest (by cpus), first (as declared) or largest",
		func(_ *index.Defs, v string, s *Settings) error {
			i := slices.Index([]string{"smallest", "first", "largest"}, v)
			if i < 0 {
				return fmt.Errorf("%q is neither smallest, first nor largest", v)
			}
			s.SetOrder = placer.SetOrder(i)
			return nil
		}},
	{"share_unit", "ncpus", "unit of class shares: ncpus, nodes, or another consumable resource",
		func(defs *index.Defs, v string, s *Settings) error { return readUnit(defs, v, &s.ShareUnit) }},
	{"signature", "", "resources whose values make a bucket; empty: all but unique ones",
		func(defs *index.Defs, v string, s *Settings) error {
			return config.Resources(defs, v, &s.Signature, signable)
		}},
	{"slack", "1", "with backfill relaxed: how much later than its earliest start the first job that does not fit " +
		"may be promised a start, in units of its walltime, such as 0.5",
		func(_ *index.Defs, v string, s *Settings) error { return config.Factor(v, mostSlack, &s.Slack) }},
	{"start", "", "who runs the queue: auto (commands that change the queue start the queue runner) or " +
		"manual (cycle, work or cron); empty: manual, but auto after qsub, sbatch and so on",
		func(_ *index.Defs, v string, s *Settings) error {
			if s.Start = v; v != "" && v != StartAuto && v != StartManual {
				return fmt.Errorf("%q is neither auto nor manual", v)
			}
			return nil
		}},
	{"state_dir", "", "local directory for the state of executed jobs, not on a network file system; empty: " +
		"/var/tmp/placectl-UID",
		func(_ *index.Defs, v string, s *Settings) error {
			if s.StateDir = v; v != "" && !strings.HasPrefix(v, "/") {
				return fmt.Errorf("%q is not an absolute path", v)
			}
			return nil
		}},
	{"suspect_after", "3", "number of different jobs a node may refuse in a row before it is drained; 0: no limit",
		func(_ *index.Defs, v string, s *Settings) error { return config.Count(v, 100, &s.SuspectAfter) }},
	{"suspect_window", "1h", "time within which those refusals count",
		func(_ *index.Defs, v string, s *Settings) error { return config.Duration(v, 0, &s.SuspectWindow) }},
	{"topology", "", "resources that name the switches above a node, the outermost first, for policy topology, e.g. " +
		"row,rack,switch",
		func(defs *index.Defs, v string, s *Settings) error {
			return config.Resources(defs, v, &s.Topology, Groupable)
		}},
}

func policyNames() string {
	var names []string
	for _, p := range placer.Policies() {
		names = append(names, p.String())
	}
	return strings.Join(names, ", ")
}

func signable(defs *index.Defs, def index.Def) error {
	if !defs.MaySign(def) {
		return fmt.Errorf("%s cannot be part of a signature: it is unique to a node, or never requested", def.Name)
	}
	return nil
}

func Groupable(_ *index.Defs, def index.Def) error {
	if def.Type != index.String && def.Type != index.StringArray || def.ID == index.Host || def.ID == index.VNode {
		return fmt.Errorf("%s cannot be a group key: that takes a string or string_array resource", def.Name)
	}
	return nil
}

// readJobPriority reads the setting job_priority, and readHalfLife half_life. Decaying use is
// kept if either needs it.
func readJobPriority(defs *index.Defs, v string, s *Settings) error {
	if s.JobPriority = v; v == "" {
		return nil
	}
	p, err := priorityf.ParseJob(defs, v)
	if err != nil {
		return err
	}
	if p.IsDefault() {
		s.JobPriority = ""
	}
	s.Ages = p.Speaks(priorityf.JobTermAge, priorityf.JobTermXFactor)
	s.Decays = s.Decays || p.Speaks(priorityf.JobTermFairshare, priorityf.JobTermUsage, priorityf.JobTermTarget)
	return nil
}

func readHalfLife(_ *index.Defs, v string, s *Settings) error {
	if s.HalfLife = 7 * 24 * time.Hour; v == "" {
		return nil
	}
	s.Decays = true
	return config.Duration(v, time.Second, &s.HalfLife)
}

// readUnit reads the setting share_unit.
func readUnit(defs *index.Defs, v string, to *string) error {
	if v == shares.Nodes {
		*to = v
		return nil
	}
	def, ok := defs.Lookup(v)
	if !ok {
		return fmt.Errorf("no resource %q%s: %w", v, index.DidYouMean(v, append(defs.Names(), shares.Nodes)),
			row.ErrNotFound)
	}
	if !def.Consumable {
		return fmt.Errorf("%s is not used up by jobs: expected nodes or a consumable resource", def.Name)
	}
	*to = def.Name
	return nil
}

// Numbers of jobs in an array: the most that the setting max_array can allow, and the most that let
// others go on as usual while it is submitted or cancelled.
const (
	MaxArray   = 100_000
	UsualArray = 10_000
)

// mostSlack is the maximum of the setting slack. A promise with more slack means nothing.
const mostSlack = 100

// mostPlanned is the maximum of the setting depth. Beyond it, use conservative.
const mostPlanned = 1_000_000

// DefaultKeepKeys is the default of keep_keys.
const DefaultKeepKeys = 30 * 24 * time.Hour

// MaxWalltime is the longest walltime, in seconds: a hundred years.
const MaxWalltime = config.Longest
