package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/placectl/placectl/placer"
	"github.com/urfave/cli/v2"
	"pgregory.net/rapid"
)

// simulatedVerbs are the verbs to draw from. A verb that occurs several times is drawn more often.
var simulatedVerbs = []string{
	"place", "place", "place", "place", "submit", "submit", "submit", "submit", "submit", "cycle", "cycle", "cycle",
	"cycle",
	"reserve", "reserve", "reserve", "unreserve", "release", "done", "done", "cancel", "hold", "unhold", "requeue",
	"retry", "extend", "alter", "alter", "tx",
	"config set", "config set", "config get", "config list", "preempt set", "preempt set", "preempt list", "preempt rm",
	"resource list", "resource add", "resource rm", "queue list", "queue add", "queue set", "queue rm",
	"pool add", "pool set", "pool set", "pool rm", "pool list", "job throttle", "account set", "account list",
	"account rm", "priority set", "priority rm", "priority list", "view set", "view list", "view rm",
	"limit set", "limit set", "limit rm", "limit list", "role add", "role rm", "role list",
	"node import", "node add", "node set", "node rm", "node list", "node show", "node drain", "node down",
	"node offline", "node resume", "node resume", "node load", "node split", "node join",
	"bucket list", "set list", "when", "explain", "show", "reservation list", "reservation show", "job list",
	"job list", "show", "history", "status", "top", "report",
	"run", "wait", "logs", "events", "class show", "class set", "class map", "class default", "class rebalance",
	"class rm", "class plan",
	"batch create", "batch list", "batch show", "batch next", "batch next", "batch done", "batch fail", "batch expire",
	"batch recompute", "batch cursors", "batch rm",
	"query", "shell", "gantt", "node reset-usage", "usage", "metrics", "check", "backup", "dump", "compact",
}

// leftOut are the verbs that are not drawn, with the reasons.
var leftOut = map[string]string{
	"init":        "it makes the database that the others use",
	"simulate":    "it uses no database",
	"whatif":      "it works on a copy, for days of its own",
	"node detect": "it looks at this machine",
	"mcp":         "an agent asks what other verbs answer: mcp.txtar",
	"demo":        "it makes a database of its own",
	"load":        "it makes the database that the others use",
	"salvage":     "it reads damaged databases, and makes new ones",
	"adopt":       "it holds all waiting jobs; copies_test.go has its laws",
	"restore":     "what it does with jobs is tested in package store, and it leaves a file behind each time",
	"completion":  "it uses no database",
	"man":         "it uses no database",
	"version":     "it uses no database",
	"clock reset": "it is for a clock that was wrong, and has laws of its own",
	"work": "what it starts lives by the machine's clock; its tests are those of internal/keeper and " +
		"attempts_test.go",
	"keep":              "as work",
	"batch work":        "it waits until a batch is finished: batch_work.txtar",
	"attend":            "as work",
	"signal":            "as work: nothing executes what the others start",
	"on":                "it is for the command of a job, which has a process of its own: on.txtar",
	"doctor":            "what it says is about this machine: doctor.txtar",
	"log":               "the database of the others is a file: replica.txtar",
	"log check":         "as log",
	"log trim":          "as log",
	"upgrade":           "as log; a file is brought to the newest format by whoever writes to it",
	"archive":           "what goes and what stays is tested in archive.txtar; the laws of the others count jobs",
	"pbs":               "what it changes other verbs do",
	"slurm":             "what it changes other verbs do",
	"install-frontends": "it makes links, and opens no database",
}

// simulationFiles are files beside the database.
var simulationFiles = map[string]string{
	"nodes.csv":   "name,ncpus,mem,color\nn1,2,4gb,red\nn6,8,16gb,blue\n",
	"less.csv":    "name,ncpus\nn4,1\nn1,1\n",
	"bad.csv":     "name,ncpus\nn1,2\nn7,many\n",
	"nodes.json":  `[{"name":"n2","resources":{"ncpus":3,"mem":"2gb"}},{"name":"night.1","queue":"q1","resources":{"ncpus":1}}]`,
	"files.csv":   "name,size\nf0,10\nf1,20\nf2,30\nf3,40\n",
	"jobs.csv":    "first,last,credit\nf0,f0,1\nf0,f1,2\nf1,f2,1\nf2,f2,3\nf3,f3,1\nf3,f3,2\n",
	"params.json": `{"a":1}`,
	"query.sql":   "SELECT count(*) FROM jobs; SELECT state, count(*) FROM nodes GROUP BY state;",
	"plan.json":   `{"total_workers":10,"classes":[{"name":"a","load_pct":60,"running":[],"waiting":[1,2]},{"name":"b","load_pct":40,"running":[],"waiting":[]}]}`,
	"verbs.tx": "place 1:ncpus=1 -t 1h\nsubmit 1:ncpus=1 -- true\nreserve s.2 --nodes n1 --start now+30h -t " +
		"1h\nnode set n3 priority=4\n",
	"failing.tx":  "place 1:ncpus=1 -t 1h\nnode rm n2\nrelease 999999\n",
	"nothing.sql": "",
	"job.sh":      "#!/bin/sh\n#PBS -N night -l walltime=90\n#placectl --priority 2\ntrue\n",
}

var outputForms = []string{"table", "line", "json", "jsonl", "csv", "tsv", "id"}

// Names that collide: nodes, queues, classes, batches and reservations share them, and some are the names
// of a standing reservation's occurrences.
var (
	drawnNodes   = []string{"n1", "n2", "n3", "n4", "n5", "n[1-3]", "n[2-5]", "n4", "n5", "n6", "night.1", "n9"}
	drawnNames   = []string{"night", "night.1", "night.2", "night.3", "s", "s.1", "s.2", "n1"}
	drawnQueues  = []string{"q1", "q1", "q1", "q2"}
	drawnClasses = []string{"red", "blue", "night"}
	drawnBatches = []string{"b", "b.1", "night"}
	drawnHosts   = []string{"h1", "h2", "h3", "n1"}
	drawnUsers   = []string{"ann", "bob", "*", "n1"}
	drawnSelects = []string{"1", "1:ncpus=1", "2:ncpus=1", "1:ncpus=2", "3:ncpus=2", "1:ncpus=4", "1:ncpus=1:mem=1gb",
		"2:ncpus=2:mem=3gb", "1:ngpus=1", "1:ncpus=2:ngpus=2", "1:color=red", "2:ncpus=1+1:ncpus=4", "1:lic=1",
		"1:ncpus=0", "1:host=n1", "99:ncpus=1", "1:ncpus=99", "4:ncpus=1:rack=a", "nodes=2:ppn=1", "ncpus=1,fluent=1",
		"ncpus=2,fluent=2", "1:fluent=1"}
	drawnPlaces = []string{"free", "pack", "scatter", "vscatter", "excl", "shared", "scatter:excl", "scatter:shared",
		"free:exclhost", "pack:group=rack", "scatter:group=rack", "excl:group=color"}
	drawnSpans    = []string{"1", "60", "90", "5m", "2h", "10m", "1h", "5h", "30h", "90:00:00"}
	drawnInstants = []string{"now", "now+1s", "now+1m", "now+10m", "now+1h", "now+2h", "now+5h", "now+30h", "tomorrow",
		"10:00", "now-1h"}
	drawnPolicies = []string{"nosuch"}
	drawnKeys     = []string{"k1", "k2", "k3", "k4", "k5", "k6", "k7", "k8", "k9", "two words", ""}
	drawnWords    = []string{"x", "two words", "a,b", "", "'", "=1+1", "-", "é\t\"<&>"}
)

func init() {
	for _, p := range placer.Policies() {
		if p != placer.Local { // that policy runs a program
			drawnPolicies = append(drawnPolicies, p.String())
		}
	}
}

// settingValues are values of settings. "" is the default.
var settingValues = map[string][]string{
	"access":           {"shared", "singleuser", "singlejob", "singletask", ""},
	"backfill":         {"easy", "fcfs", "conservative", "relaxed", "relaxed", "best", ""},
	"depth":            {"1", "3", "0", ""},
	"slack":            {"0", "0.5", "2", "-1", "x", ""},
	"bind":             {"compact", "tight", "scatter", "loose", ""},
	"chunk_fit":        {"first", "exact", ""},
	"default_walltime": {"60", "3600", "0", ""},
	"do_not_span_sets": {"true", "false", ""},
	"group_key":        {"rack", "color", "rack,color", "nosuch", ""},
	"hook":             {"true", "false", "/nosuch", ""},
	"health":           {"true", "false", ""},
	"lost_after":       {"0", "1h", "x", ""},
	"claim_within":     {"10s", "1h", "x", ""},
	"suspect_after":    {"0", "2", "101", ""},
	"suspect_window":   {"60", "2h", "x", ""},
	"keep_ended":       {"3650d", "x", ""}, // no shorter, because the laws count jobs
	"keep_keys":        {"0", "2h", "30d", "x", ""},
	"launch":           {"work", "exec", "x", ""},
	"pin":              {"none", "cpus", "x", ""},
	"detect":           {"warn", "drain", "off", "x", ""},
	"enforce":          {"auto", "none", "poll", "x", ""},
	"job_priority": {"AGE", "PRIORITY + AGE/60", "slurm", "maui", "fifo", "FAIRSHARE - USAGE.user", "ASK.lic",
		"TARGET.class + BYPASS", "nosuch(", ""},
	"priority_min":       {"-5", "0", "x", ""},
	"priority_max":       {"5", "0", "x", ""},
	"priority_every":     {"60", "1h", "0", ""},
	"half_life":          {"1h", "7d", "0", ""},
	"accept":             {"any", "feasible", "x", ""},
	"start":              {"auto", "manual", "x", ""},
	"path":               {"/usr/bin:/bin", ""},
	"server":             {"placectl", "pbs-1.lab", "a b", ""},
	"default_partition":  {"main", "batch", "a,b", ""},
	"max_array":          {"10000", "20000", "0", ""},
	"min_job_age":        {"300", "5m", "x", ""},
	"launch_db":          {"/x.db", "ssh://ann@head/x.db", "x.db", "ssh://head", ""},
	"state_dir":          {"/tmp/x", "x", ""},
	"local_program":      {"cat", ""},
	"local_timeout":      {"5", ""},
	"only_explicit_sets": {"true", "false", ""},
	"overdue":            {"keep", "finish", ""},
	"policy":             drawnPolicies,
	"priorityf":          {"SPEED", "CMEM*2", "nosuch(", ""},
	"set_delay":          {"0", "3600", "forever", ""},
	"set_order":          {"smallest", "first", "largest", ""},
	"share_unit":         {"ncpus", "nodes", "mem", "lic", ""},
	"signature":          {"ncpus", "ncpus,mem", "color", "lic", "nosuch", ""},
	"topology":           {"rack", "color,rack", ""},
}

// flagValues are the values of each flag, "" for a switch. A key with a verb applies to that verb only.
var flagValues = map[string][]string{
	"dry-run": {""}, "all": {""}, "select": drawnSelects, "place": drawnPlaces, "walltime": drawnSpans,
	"name": drawnNames, "user": drawnUsers, "group": {"chem", "*"}, "account": {"acc", ""}, "queue": drawnQueues,
	"class":  drawnClasses,
	"policy": drawnPolicies, "prefer": {"feature", "color=red"}, "exclude": {"n1", "n[1-2]", "nowhere"},
	"access":   {"shared", "singleuser", "singlejob", "singletask", "x"},
	"pool":     {"fluent=1", "fluent=2", "fluent=1", "fluent=5", "matlab=1", "nosuch=1", "fluent=0", "x"},
	"usage by": {"user", "account", "class", "queue", "day", "month", "x"}, "outside": {"0", "1", "2", "x"},
	"until":       drawnInstants,
	"over-limits": {""}, "soft": {""}, "use": {""},
	"parent": {"acc", "chem", "", "nosuch"}, "shares": {"0", "1", "30", "x"},
	"member": {"ann=2", "bob", "ann=-", "a b=1", "ann=x"},
	"how":    {"requeue", "cancel", "x"}, "min-run": {"0", "0", "10m", "x"}, "at-most": {"0", "1", "3", "x"},
	"queue add allow": {"user=ann", "group=chem", "", "x"}, "queue set allow": {"user=bob", "", "x"},
	"class set allow": {"user=ann", "", "x"}, "account set allow": {"user=ann", "group=chem,user=bob", "", "ann"},
	"reservation": drawnNames, "at": drawnInstants, "or-reserve": {""}, "wait": {"0"}, "key": drawnKeys,
	"explain": {""},
	"count":   {"0", "1", "3"}, "job": {"1", "3", "99", "0", "nosuch"}, "nodes": drawnNodes, "limit": {"0", "1", "5"},
	"group-key": {"rack", "color", ""}, "state": {"free", "partly", "busy", "down", "running", "queued", "x"},
	"feature": {"f"}, "reason": drawnWords,
	"start": drawnInstants, "allow": {"user=ann", "user=*", "group=chem-", "class=red=", "job=1", "job=3", "queue=q1",
		"x"}, "timelimit": drawnSpans,
	"repeat": {"daily", "weekly", "FREQ=MINUTELY", "FREQ=HOURLY", "FREQ=WEEKLY;BYDAY=SA", "x"},
	"depth":  {"0", "1", "2", "3", "x"}, "zone": {"UTC", "Europe/Berlin", "x"},
	"array": {"0", "1", "3", "-1", "5-5", "1-7:3", "3%2", "5%1", "0-9:3%2"}, "after": {"1", "2", "99"},
	"afterok": {"1", "2", "3,4"}, "afternotok": {"1", "2"}, "afterany": {"1", "1[]"}, "aftercorr": {"1", "2[]", "99"},
	"each": {"job.sh", "nosuch"}, "failed": {""}, "cpus": {"1", "4", "0", "x"}, "gpus": {"1", "x"},
	"mem": {"1gb", "x", ""}, "waiting": {""},
	"priority": {"0", "5", "-5", "x"}, "begin": drawnInstants, "deadline": drawnInstants, "hold": {""},
	"immediately": {""},
	"force":       {""}, "lost": {""}, "attempt": {"1", "2", "0"}, "no-requeue": {""}, "singleton": {""},
	"requestor": drawnUsers,
	"script":    {"job.sh", "nosuch"}, "directives": {"pbs", "none", "x"}, "lax": {""}, "chdir": {"/", "/nosuch"},
	"export": {"none", "X=1", "PATH,Y=2", "x y"}, "umask": {"027", "9"},
	"path": {"nosuch", "no/such"}, "out": {"x.%j", "%A.%a", "%z"}, "err": {"%x.%N", "/nosuch/x"},
	"input": {"data", "/nosuch/x", "%z"}, "comment": {"one of mine", ""}, "out-mode": {"append", "truncate", "x"},
	"compat": {"pbs", "slurm", "none", "x"}, "env": {""},
	"retries": {"0", "2", "-1"}, "retry-on": {"1-5,oom", "0"}, "retry-wait": {"1", "2h"},
	"retry-mem": {"x2", "x1.5,1gb", "2"}, "signal": {"USR1@60", "B:10", "x"}, "grace": {"0", "5", "x"},
	"tail": {"0", "1", "7"}, "logs err": {""},
	"mail": {"end", "begin,fail", "x"}, "mail-to": {"ann@site", "a b"},
	"status": {"0", "1", "256"}, "backfill": {"fcfs", "easy", "conservative", "relaxed", "x"}, "widest": {""},
	"slack": {"0", "0.5", "x"}, "accept": {"any", "feasible", "x"},
	"whatif compare": {"easy,relaxed", "conservative,relaxed:0", "x"}, "exec": {"true", "false", "/nosuch"},
	"exec-timeout": {"5s"},
	"max-time":     {"0", "1h"}, "for": {"started", "ended", "x"}, "timeout": {"0"}, "since": {"0", "5", "x"},
	"last": {"0", "1", "7"}, "follow": nil,
	"file": {"query.sql", "nosuch"}, "params": {"params.json", "nosuch"}, "replace": {""}, "first": {""},
	"threshold": {"0", "0.5", "x"}, "minimum": drawnSpans, "from": {"now", "now-1h"}, "to": {"now+1h", "now+30h"},
	"files": {"files.csv"}, "jobs": {"jobs.csv"}, "hosts": {"0", "1", "4"}, "team": {"1", "2"}, "quorum": {"1", "2"},
	"cushion":    {"0", "1", "5"},
	"max-errors": {"0", "1", "3"}, "lease": drawnSpans, "keep": {"0", "1"}, "svg": {"out.svg"}, "html": {"out.html"},
	"width": {"1", "60", "200"},
	"host":  drawnHosts, "want": {"0", "1", "3"}, "seconds": drawnSpans, "param": {"x=1", "x"},
	"max-rows": {"0", "1", "1000"}, "by": {"node", "bucket", "device", "x"},
	"bind": {"compact", "tight", "scatter", "x"}, "node split by": {"numa"},
	"node import map": {"color=color", "ncpus=ncpus", "x"}, "skip": {"color", "mem", "x"}, "default-partition": {"q1"},
	"device": {"ncpus=0", "ncpus=1-2", "lic=a", "ncpus=99", "ncpus", "nosuch=1"},
	"slices": {"2", "4", "0", "lic=2", "1", "x"}, "rows": {"0", "1", "5"},
	"repair": {""}, "cycle forecast": {""}, "in-process": {""}, "unit": {"mem=gb", "gb", "x"},
	"metrics out": {"out.prom"}, "format": {"prometheus", "openmetrics", "x"},
	"tx file": {"verbs.tx", "failing.tx", "nosuch"}, "node import from": {"auto", "csv", "json", "x"},
	"class plan from": {"plan.json", "nosuch"},
	"report since":    {"now-1h", "x"}, "report until": {"now", "now+1h"}, "report by": {"user", "group", "queue", "x"},
	"report title": {"a week"},
	"report add":   {"n9 like n1", "x"}, "report drop": {"n1"}, "report limit": {"all running=1"},
	"report preempt": {"user=ann over all"}, "report backfill": {"fcfs", "x"}, "report horizon": {"1h", "0"},
	"csv": {"out.csv"}, "wide": {""}, "delay": {"1", "2s", "0", "x"}, "order": {"next", "newest", "state", "x"},
	"job list since": drawnInstants, "history since": drawnInstants, "job list name": {"n*", "[", "s"},
	"history name":    {"n*", "x"},
	"batch show jobs": {""}, "batch create policy": {"cursors", "gaps", "x"},
	"node list state": {"free", "partly", "busy", "down", "drained", "x"},
}

func init() {
	flagValues["follow"] = []string{"=false"} // it would never end
	flagValues["launch"] = []string{"=false"} // like work, it would use the machine's clock
	flagValues["carried"] = []string{"=false"}
}

// pick draws one of several words.
func (s *simulation) pick(label string, words []string) string {
	return rapid.SampledFrom(words).Draw(s.draw, label)
}

// seldom returns true once in n times.
func (s *simulation) seldom(label string, n int) bool {
	return rapid.IntRange(1, n).Draw(s.draw, label) == n
}

// commandLine draws the rest of a verb's command line, and its standard input.
func (s *simulation) commandLine(verb string) (args []string, stdin string) {
	line := strings.Fields(verb)
	needed, behind := s.arguments(verb)
	line = append(line, needed...)
	for _, name := range s.drawnFlags(verb, needed) {
		value := s.flagValue(verb, name)
		if s.takesValue(verb, name) {
			line = append(line, "--"+name, value)
		} else {
			line = append(line, "--"+name+value)
		}
	}
	line = append(line, "-o", s.pick("form", outputForms))
	if verb == "shell" {
		stdin = ".tables\nSELECT count(*) FROM jobs;\n.schema nodes\nSELECT nosuch;\n"
	}
	return append(line, behind...), stdin
}

// drawnFlags draws some of the verb's flags that the line lacks.
func (s *simulation) drawnFlags(verb string, line []string) (drawn []string) {
	var names []string
	for _, f := range s.leafs[verb].Flags {
		names = append(names, f.Names()[0])
	}
	if len(names) == 0 {
		return nil
	}
	for range s.pickInt("flags", 0, 0, 1, 1, 1, 2, 3) {
		name := s.pick("flag", names)
		if given := s.given(verb, line); !slices.Contains(given, name) && !slices.Contains(drawn, name) {
			drawn = append(drawn, name)
		}
	}
	return drawn
}

// given returns the flags that would repeat what the line already says. One time in twenty they are
// allowed: that is an error which must be found.
func (s *simulation) given(verb string, line []string) (given []string) {
	if len(line) == 0 || s.seldom("twice", 20) {
		return nil
	}
	for _, word := range line {
		if name, ok := strings.CutPrefix(word, "--"); ok {
			given = append(given, name)
		}
	}
	switch verb {
	case "place", "when", "explain", "submit", "run", "reserve":
		given = append(given, "select", "walltime", "nodes")
	}
	return given
}

func (s *simulation) takesValue(verb, flag string) bool {
	for _, f := range s.leafs[verb].Flags {
		if doc, ok := f.(cli.DocGenerationFlag); ok && f.Names()[0] == flag {
			return doc.TakesValue()
		}
	}
	return false
}

func (s *simulation) pickInt(label string, n ...int) int {
	return rapid.SampledFrom(n).Draw(s.draw, label)
}

func (s *simulation) flagValue(verb, flag string) string {
	values := flagValues[verb+" "+flag]
	if values == nil {
		values = flagValues[flag]
	}
	value := s.pick(flag, values)
	if _, ok := simulationFiles[value]; ok || strings.HasPrefix(value, "out.") {
		value = s.file(value)
	}
	return value
}

func (s *simulation) file(name string) string { return s.dir + "/" + name }

// job draws the number of a job, mostly an existing one.
func (s *simulation) job() string {
	if s.seldom("odd job", 12) {
		return s.pick("job", []string{"0", "99999", "1[0]", "1[]", "1-3", "x"})
	}
	return fmt.Sprint(rapid.IntRange(1, max(1, s.jobs)).Draw(s.draw, "job"))
}

// arguments draws what a verb needs: words before the flags, and words behind them.
func (s *simulation) arguments(verb string) (needed, behind []string) {
	if verb != "check" && verb != "wait" && s.seldom("bare", 60) { // wait alone would wait for jobs that nothing ends
		return nil, nil
	}
	nodes := func() string { return s.pick("nodes", drawnNodes) }
	switch verb {
	case "place", "when", "explain":
		if verb == "explain" && s.seldom("of a job", 3) {
			return []string{s.job()}, nil
		}
		return []string{s.pick("select", drawnSelects), "-t", s.pick("walltime", drawnSpans)}, nil
	case "submit":
		needed = []string{s.pick("select", drawnSelects), "-t", s.pick("walltime", drawnSpans)}
		if s.seldom("script", 4) {
			return append(needed, s.file("job.sh")), nil
		}
		if s.seldom("command", 2) {
			behind = []string{"--", "true", s.pick("word", drawnWords)}
		}
		return needed, behind
	case "run":
		return []string{s.pick("select", drawnSelects), "--wait", "0"},
			[]string{"--", s.pick("program", []string{"true", "false", "/nosuch"})}
	case "release", "done", "cancel", "hold", "unhold", "requeue", "retry", "show", "logs":
		return []string{s.job()}, nil
	case "wait":
		return []string{s.job(), "--timeout", "0"}, nil
	case "alter":
		return []string{s.job(), "--priority", s.pick("priority", []string{"0", "5", "-5"})}, nil
	case "extend":
		return []string{s.job(), "--walltime", s.pick("walltime", drawnSpans)}, nil
	case "reserve":
		needed = []string{s.pick("name", drawnNames), "-t", s.pick("walltime", drawnSpans), "--start",
			s.pick("start", drawnInstants)}
		if s.seldom("by nodes", 2) {
			return append(needed, "--nodes", nodes()), nil
		}
		return append(needed, "--select", s.pick("select", drawnSelects)), nil
	case "unreserve", "reservation show":
		return []string{s.pick("name", drawnNames)}, nil
	case "config set":
		name := rapid.SampledFrom(slices.Sorted(mapKeys(settingValues))).Draw(s.draw, "setting")
		return []string{name + "=" + s.pick("value", settingValues[name])}, nil
	case "config get":
		return []string{rapid.SampledFrom(slices.Sorted(mapKeys(settingValues))).Draw(s.draw, "setting")}, nil
	case "resource add":
		return []string{s.pick("resource", []string{"lic=long,consumable", "disk2=size,consumable", "size=string",
			"color=string", "x=nosuch"})}, nil
	case "resource rm":
		return []string{s.pick("resource", []string{"lic", "disk2", "size", "color", "rack", "ncpus"})}, nil
	case "queue add", "queue set", "queue rm":
		return []string{s.pick("queue", drawnQueues)}, nil
	case "priority set":
		return []string{s.pick("number", []string{"user:ann=5", "user:bob=-3", "queue:q1=100", "class:red=7", "job:1=2",
			"user=ann"})}, nil
	case "priority rm":
		return []string{s.pick("number", []string{"user=ann", "queue=q1", "x"})}, nil
	case "pool add":
		return []string{s.pick("pool", []string{"fluent=3", "matlab=1", "lic=2", "x=y", "disk2=4"})}, nil
	case "pool set":
		return []string{s.pick("pool", []string{"fluent=3", "fluent=1", "fluent=0", "fluent=2", "matlab=2", "nosuch=1",
			"fluent"})}, nil
	case "view set":
		return []string{s.pick("view", []string{"gpus", "v", "nodes", "a b"}),
			s.pick("select", []string{"SELECT name FROM nodes", "SELECT * FROM v", "SELECT job, x FROM jobs",
				"SELECT 1;", "nonsense"})}, nil
	case "view rm":
		return []string{s.pick("view", []string{"gpus", "v", "w"})}, nil
	case "preempt set", "preempt rm":
		return []string{
			s.pick("preempt", []string{"queue=q1 over all", "class=red over class=blue", "class=blue over class=red",
				"user=ann over *", "user=ann over user=bob", "soft over x"})}, nil
	case "account set", "account rm":
		return []string{s.pick("account", []string{"acc", "chem", "org", "a b", "*"})}, nil
	case "role add", "role rm":
		return []string{s.pick("user", drawnUsers), "operator"}, nil
	case "limit set", "limit rm":
		key := s.pick("limit", []string{"user=*", "user=ann", "all", "account=acc", "account=*,user=*", "queue=q1",
			"class=red", "group=*", "user:", "x"})
		measures := []string{"running", "ncpus", "jobs", "queued", "ncpus.left", "mem.job", "walltime.job", "fluent",
			"nodes", "nosuch", "ncpus.jobs"}
		if measure := s.pick("measure", measures); verb == "limit set" {
			return []string{key, measure + "=" + s.pick("most", []string{"0", "1", "3", "8", "40000", "x"})}, nil
		} else if rapid.Bool().Draw(s.draw, "named") {
			return []string{key, measure}, nil
		}
		return []string{key}, nil
	case "pool rm":
		return []string{s.pick("pool", []string{"fluent", "matlab", "nosuch"})}, nil
	case "job throttle":
		return []string{s.job(), s.pick("most", []string{"0", "1", "2", "none", "x"})}, nil
	case "node import":
		return []string{s.file(s.pick("file", []string{"nodes.csv", "less.csv", "bad.csv", "nodes.json"}))}, nil
	case "node add", "node set":
		needed = []string{nodes()}
		for range s.pickInt("settings", 1, 1, 2) {
			needed = append(needed, s.pick("setting", []string{"ncpus=1", "ncpus=2", "ncpus=4", "ncpus=0", "ncpus=",
				"ncpus=9223372036854775807", "ncpus=1099511627776", "mem=7", "mem=1gb", "mem=8gb", "ngpus=2",
				"ngpus=0-1@0+2@1", "ngpus=1-2@0", "ngpus=", "ncpus=0-1@0+2-3@1", "devices=", "color=blue", "color=",
				"rack=b", "rack=",
				"lic=3", "queue=q1", "queue=", "priority=3", "speed=2", "access=singleuser", "features=f", "nosuch=1"}))
		}
		return needed, nil
	case "node rm", "node show", "node drain", "node down", "node offline", "node resume":
		return []string{nodes()}, nil
	case "node split", "node join":
		return []string{s.pick("node", []string{"n1", "n2", "n3", "n4", "n2.0", "n5", "n[1-3]"})}, nil
	case "node load":
		return []string{s.pick("load", []string{"n1=0.5", "n2=3", "n9=1", "n1=x"})}, nil
	case "class set":
		return []string{s.pick("load", []string{"red=50", "blue=10", "night=40", "red=x"})}, nil
	case "class map":
		return []string{s.pick("map", []string{"red=^a", "blue=.*", "night=[", "nosuch=x"})}, nil
	case "class default", "class rm":
		return []string{s.pick("class", drawnClasses)}, nil
	case "batch create":
		return []string{s.pick("batch", drawnBatches), "--files", s.file("files.csv"), "--jobs", s.file("jobs.csv")},
			nil
	case "batch next":
		return []string{s.pick("batch", drawnBatches), "--host", s.pick("host", drawnHosts)}, nil
	case "batch done", "batch fail":
		return []string{s.pick("batch", drawnBatches), s.pick("job", []string{"0", "1", "2", "3", "4", "5", "6"}),
			"--host", s.pick("host", drawnHosts)}, nil
	case "batch show", "batch rm", "batch cursors", "batch expire", "batch recompute":
		return []string{s.pick("batch", drawnBatches)}, nil
	case "query":
		return []string{
			s.pick("sql", []string{"SELECT * FROM nodes", "SELECT * FROM jobs",
				"SELECT state, count(*) FROM nodes AT 'now+2h' GROUP BY state", "SELECT * FROM allocations",
				"SELECT * FROM reservations", "SELECT * FROM events ORDER BY id DESC LIMIT 5",
				"SELECT * FROM free_slots('1h')", "SELECT nosuch FROM nodes", "SELECT * FROM buckets",
				"SELECT * FROM spans", "SELECT * FROM devices", "SELECT * FROM placement_sets"})}, nil
	case "tx":
		return []string{"--file", s.file(s.pick("file", []string{"verbs.tx", "failing.tx"}))}, nil
	case "check":
		return []string{"--in-process"}, nil
	case "backup":
		return []string{s.pick("backup", []string{s.file("copy.db"), s.file("nodes.csv"), s.file("none/backup.db")})},
			nil
	}
	return nil, nil
}

// TestSimulationDraws: there are values to draw for each flag of the simulation's verbs.
func TestSimulationDraws(t *testing.T) {
	leafs, _ := leafVerbs()
	for _, verb := range simulatedVerbs {
		for _, f := range leafs[verb].Flags {
			name := f.Names()[0]
			if flagValues[verb+" "+name] == nil && flagValues[name] == nil {
				t.Errorf("flagValues has none for %s --%s", verb, name)
			}
		}
	}
}
