package main

import (
	"io"
	"os/exec"
	"strings"
)

// table is a table of measurements, and how to make it.
type table struct {
	name, title string
	program     string // an argument of go run
	dir         string // where to start go run if it is another module, "" for here
	args        string
	short       string // arguments for a trial with small sizes
}

var tables = []table{
	{name: "commands", title: "One process for each command", program: "./bench/whole",
		args: "-runs 31", short: "-sizes 100,200 -runs 1"},
	{name: "goals", title: "What one process is meant to take", program: "./bench/whole",
		args: "-goals -runs 31", short: "-goals -sizes 200 -runs 1"},
	{name: "planned", title: "The same, where an hour's request passes over what is planned", program: "./bench/whole",
		args: "-planned -runs 21", short: "-planned -sizes 100 -runs 1 -only when"},
	{name: "cycles", title: "The queue: submissions and cycles", program: "./bench/cycle",
		args: "-runs 3", short: "-nodes 200 -waiting 50 -runs 1"},
	{name: "policies", title: "Every policy, on shared nodes", program: "./bench/policies",
		args: "-runs 9", short: "-sizes 500 -runs 1"},
	{name: "planner", title: "The planner beside a flat array", program: "./bench/timeline",
		args:  "-kinds narrow,wide,frag,saw,stair,long -n 1000,10000 -rounds 200 -repeat 3",
		short: "-kinds narrow,wide,frag,saw,stair,long -n 200 -rounds 20"},
	{name: "traces", title: "Traces replayed", program: "./bench/simulate",
		args: "-runs 5", short: "-runs 1 -only KTH"},
	{name: "forecasts", title: "Likely and safe starts", program: "./bench/forecast",
		args: "", short: "-short -every 5"},
	{name: "classes", title: "Class shares planned", program: "./bench/class",
		args: "-runs 9", short: "-runs 1"},
	{name: "locality", title: "Locality: what a batch costs", program: "./bench/locality",
		args: "-from 6", short: "-seeds 1 -scale 50"},
	{name: "recover", title: "Getting out of trouble", program: "./bench/recover",
		args: "", short: "-nodes 1000 -jobs 5000 -check"},
	{name: "replica", title: "A database in etcd beside one in a file", program: "./bench", dir: "etcd",
		args: "", short: "-short"},
	{name: "fronts", title: "The commands of PBS and Slurm", program: "./bench/fronts",
		args: "", short: "-kept 200 -waiting 20 -runs 1"},
	{name: "sharing", title: "What it costs that many share", program: "./bench/sharing",
		args: "", short: "-rounds 1 -waiting 100 -nodes 500"},
	{name: "tasks", title: "Small tasks beside xargs, parallel and task-spooler", program: "./bench/tasks",
		args: "", short: "-short"},
	{name: "sql", title: "Queries beside SQLite", program: "./compare", dir: "bench/oracle",
		args: "", short: "-nodes 300 -runs 1"},
}

func (t table) words(short bool) []string {
	args := t.args
	if short {
		args = t.short
	}
	return append([]string{"run", t.program}, strings.Fields(args)...)
}

// commandLine returns the command that makes the table, as typed in the project's folder.
func (t table) commandLine(short bool) string {
	line := "go " + strings.Join(t.words(short), " ")
	if t.dir != "" {
		line = "(cd " + t.dir + "; " + line + ")"
	}
	return line
}

func (t table) command(short bool, out io.Writer) *exec.Cmd {
	c := exec.Command("go", t.words(short)...)
	c.Dir, c.Stdout, c.Stderr = t.dir, out, out
	return c
}
