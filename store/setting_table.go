package store

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/priorityf"
	"github.com/placectl/placectl/store/internal/settings"
)

type settingDef struct {
	name, value, doc string
	read             func(defs *index.Defs, v string, s *Settings) error
}

// settingDefs are all settings there are, with their defaults.
var settingDefs = []settingDef{
	{"accept", "any", "which jobs are taken into the queue: any (one that can never run, as the cluster is, waits until it can) or feasible (it is refused)",
		func(_ *index.Defs, v string, s *Settings) error {
			if s.Feasible = v == "feasible"; !s.Feasible && v != "any" {
				return fmt.Errorf("%q is neither any nor feasible", v)
			}
			return nil
		}},
	{"access", "shared", "whose jobs may be on a node together: shared, singleuser, singlejob or singletask",
		func(_ *index.Defs, v string, s *Settings) (err error) {
			s.Access, err = index.ParseAccess(v)
			return err
		}},
	{"backfill", "easy", "how cycles plan ahead: easy (the first that does not fit, the others around it), fcfs (no job passes one that does not fit), conservative (all are planned) or relaxed (the first that does not fit is promised a start, and the shortest go around it)",
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
		func(_ *index.Defs, v string, s *Settings) error { return settings.Name(v, &s.Partition) }},
	{"default_walltime", "3600", "the walltime of a request that names none, such as 3600 or 1h",
		func(_ *index.Defs, v string, s *Settings) error {
			return settings.Duration(v, time.Second, &s.DefaultWalltime)
		}},
	{"depth", "1", "how many jobs that do not fit a cycle plans with backfill easy",
		func(_ *index.Defs, v string, s *Settings) error {
			if err := settings.Count(v, mostPlanned, &s.Depth); err != nil || s.Depth < 1 {
				return fmt.Errorf("%q is not a number from 1 to %d", v, mostPlanned)
			}
			return nil
		}},
	{"detect", "warn", "what the first pass after a host was started does about devices that the host is found to lack: drain (them), warn (an event says so) or off",
		func(_ *index.Defs, v string, s *Settings) error {
			return settings.Word(v, &s.Detect, "drain", "warn", "off")
		}},
	{"do_not_span_sets", "false", "a request that fits no placement set never runs, rather than span them",
		func(_ *index.Defs, v string, s *Settings) error { return settings.Bool(v, &s.DoNotSpan) }},
	{"enforce", "auto", "how jobs are kept to the memory and cores they asked for: cgroup (or they are refused), poll (their memory is read each second), auto (cgroup if available), none",
		func(_ *index.Defs, v string, s *Settings) error {
			return settings.Word(v, &s.Enforce, "auto", "cgroup", "poll", "none")
		}},
	{"group_key", "", "resources whose values split the nodes into placement sets, e.g. switch,rack",
		func(defs *index.Defs, v string, s *Settings) error {
			return settings.Resources(defs, v, &s.GroupKey, groupable)
		}},
	{"half_life", "", "after how long what jobs have had counts half for FAIRSHARE, USAGE and TARGET in job_priority; empty: 7d, and it is only kept while job_priority names one of them", readHalfLife},
	{"health", "", "a program that passes run before they execute anything: ends it with another status than 0 the node is drained, with its last line as the reason", func(_ *index.Defs, v string, s *Settings) error { s.Health = strings.Fields(v); return nil }},
	{"hook", "", "a program that reads what happens as JSON lines: a cycle or pass of the file's owner runs it; such as docs/hooks/mail", func(_ *index.Defs, v string, s *Settings) error { s.Hook = strings.Fields(v); return nil }},
	{"keep_ended", "", "for how long jobs that have ended are kept, with their events, before a cycle drops them; empty: for ever, see placectl archive",
		func(_ *index.Defs, v string, s *Settings) error {
			if v == "" {
				s.KeepEnded = 0
				return nil
			}
			return settings.Duration(v, 0, &s.KeepEnded)
		}},
	{"keep_keys", "30d", "for how long the answer to a request with a key is kept, and until its jobs have ended",
		func(_ *index.Defs, v string, s *Settings) error {
			if err := settings.Duration(v, 0, &s.KeepKeys); err != nil {
				return err
			}
			if s.KeepKeys < time.Minute {
				return fmt.Errorf("%q is less than a minute: what is asked again with its key, because its answer was lost, would be done twice", v)
			}
			return nil
		}},
	{"job_priority", "", "what jobs that wait are put in order by, an expression as " + priorityf.DefaultJob + " + AGE/3600, or fifo, slurm or maui: placectl help priority; empty: " + priorityf.DefaultJob, readJobPriority},
	{"launch", "", "how jobs are launched: exec (cycle --exec tells the site's launcher) or work (passes have a keeper execute them); the first of them decides",
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
	{"local_timeout", "10", "how long the program of policy local may take, such as 10s",
		func(_ *index.Defs, v string, s *Settings) error {
			return settings.Duration(v, time.Second, &s.LocalTimeout)
		}},
	{"lost_after", "30m", "after how long without a word of a host its jobs are unreachable, and nothing new starts there; 0: never", func(_ *index.Defs, v string, s *Settings) error { return settings.Duration(v, 0, &s.LostAfter) }},
	{"min_job_age", "300", "how long squeue lists jobs that have ended",
		func(_ *index.Defs, v string, s *Settings) error { return settings.Duration(v, 0, &s.MinJobAge) }},
	{"only_explicit_sets", "false", "nodes that lack the group key are in no placement set",
		func(_ *index.Defs, v string, s *Settings) error { return settings.Bool(v, &s.ExplicitSets) }},
	{"overdue", "keep", "jobs past their walltime keep their nodes (keep) or are ended (finish)",
		func(_ *index.Defs, v string, s *Settings) error {
			if s.FinishOverdue = v == "finish"; !s.FinishOverdue && v != "keep" {
				return fmt.Errorf("%q is neither keep nor finish", v)
			}
			return nil
		}},
	{"path", "", "where the process that looks after the queue (start=auto) looks for programs: ssh, and those that other settings name; empty: /usr/local/bin:/usr/bin:/bin", func(_ *index.Defs, v string, s *Settings) error { s.Path = v; return nil }},
	{"pin", "none", "whether a job may use only the cores that it holds (cpus), on nodes that name theirs; or any (none): PLACECTL_CPUS says in both cases which it holds",
		func(_ *index.Defs, v string, s *Settings) error { return settings.Word(v, &s.Pin, "none", PinCores) }},
	{"policy", "firstavailable", "which of the nodes that could serve a request are taken: " + policyNames(),
		func(_ *index.Defs, v string, s *Settings) (err error) {
			s.Policy, err = placer.ParsePolicy(v)
			return err
		}},
	{"priority_every", "300", "job_priority is evaluated at whole multiples of this duration", func(_ *index.Defs, v string, s *Settings) error {
		return settings.Duration(v, time.Second, &s.PriorityEvery)
	}},
	{"priority_max", "1000", "the highest priority of jobs that users may ask for who are no operators",
		func(_ *index.Defs, v string, s *Settings) error {
			return settings.Between(v, -MaxPriority, MaxPriority, &s.PriorityMax)
		}},
	{"priority_min", "-1000", "the lowest priority of jobs that users may ask for who are no operators",
		func(_ *index.Defs, v string, s *Settings) error {
			return settings.Between(v, -MaxPriority, MaxPriority, &s.PriorityMin)
		}},
	{"priorityf", "", "what policy priority goes by, for nodes without one of their own; empty: " + priorityf.Default,
		func(defs *index.Defs, v string, s *Settings) error {
			if s.PriorityF = v; v == "" {
				return nil
			}
			_, err := priorityf.Parse(defs, v)
			return err
		}},
	{"server", "placectl", "what stands behind the numbers of jobs for users of PBS: 12.placectl",
		func(_ *index.Defs, v string, s *Settings) error { return settings.Name(v, &s.Server) }},
	{"set_delay", "forever", "how long a request that would fit a placement set waits for one, before it spans them; 0: it does not wait",
		func(_ *index.Defs, v string, s *Settings) error {
			if v == "forever" {
				s.SetDelay = 0
				return nil
			}
			if err := settings.Duration(v, 0, &s.SetDelay); err != nil {
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
			return settings.Resources(defs, v, &s.Signature, signable)
		}},
	{"slack", "1", "with backfill relaxed: how much later than its earliest start the first that does not fit is promised one, in walltimes of its own, such as 0.5",
		func(_ *index.Defs, v string, s *Settings) error { return settings.Factor(v, mostSlack, &s.Slack) }},
	{"start", "", "who makes cycles and starts jobs: auto (the commands that change the queue leave a process behind that does, while there is something to do) or manual (cycle, work or cron); empty: manual, but auto for what qsub, sbatch and their likes change",
		func(_ *index.Defs, v string, s *Settings) error {
			if s.Start = v; v != "" && v != StartAuto && v != StartManual {
				return fmt.Errorf("%q is neither auto nor manual", v)
			}
			return nil
		}},
	{"state_dir", "", "where hosts keep what they execute, a directory of their own, not shared by network; empty: /var/tmp/placectl-UID",
		func(_ *index.Defs, v string, s *Settings) error {
			if s.StateDir = v; v != "" && !strings.HasPrefix(v, "/") {
				return fmt.Errorf("%q is no absolute path", v)
			}
			return nil
		}},
	{"suspect_after", "3", "a node that has refused so many different jobs, and executed none in between, is drained; 0: it is not", func(_ *index.Defs, v string, s *Settings) error { return settings.Count(v, 100, &s.SuspectAfter) }},
	{"suspect_window", "1h", "within how long those jobs count", func(_ *index.Defs, v string, s *Settings) error { return settings.Duration(v, 0, &s.SuspectWindow) }},
	{"topology", "", "resources that name the switches above a node, the outermost first, for policy topology, e.g. row,rack,switch",
		func(defs *index.Defs, v string, s *Settings) error {
			return settings.Resources(defs, v, &s.Topology, groupable)
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

// readJobPriority reads the setting job_priority, readHalfLife half_life. What decays is kept
// where either wants it.
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
	s.ages = p.Speaks(priorityf.JobTermAge, priorityf.JobTermXFactor)
	s.Decays = s.Decays || p.Speaks(priorityf.JobTermFairshare, priorityf.JobTermUsage, priorityf.JobTermTarget)
	return nil
}

func readHalfLife(_ *index.Defs, v string, s *Settings) error {
	if s.HalfLife = 7 * 24 * time.Hour; v == "" {
		return nil
	}
	s.Decays = true
	return settings.Duration(v, time.Second, &s.HalfLife)
}

// readUnit reads the setting share_unit.
func readUnit(defs *index.Defs, v string, to *string) error {
	if v == UnitNodes {
		*to = v
		return nil
	}
	def, ok := defs.Lookup(v)
	if !ok {
		return fmt.Errorf("no resource %q%s: %w", v, index.DidYouMean(v, append(defs.Names(), UnitNodes)), ErrNotFound)
	}
	if !def.Consumable {
		return fmt.Errorf("%s is not used up by jobs: expected nodes or a consumable resource", def.Name)
	}
	*to = def.Name
	return nil
}

// mostSlack bounds the setting slack: a promise of more is none.
const mostSlack = 100

// mostPlanned bounds the setting depth: more is conservative.
const mostPlanned = 1_000_000

// defaultKeepKeys is the default of keep_keys.
const defaultKeepKeys = 30 * 24 * time.Hour

// maxWalltime bounds walltimes, in seconds: a hundred years.
const maxWalltime = settings.Longest
