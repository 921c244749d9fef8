package ask

import (
	"bytes"
	"context"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/mcp"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/urfave/cli/v2"
)

// MCP declares the verb mcp.
func MCP() *session.Verb {
	return &session.Verb{
		Name:     "mcp",
		Category: "Asking",
		Usage:    "serve agents by the Model Context Protocol",
		May:      engine.Anybody,
		Description: "Speaks JSON-RPC on standard input and output, one message a line, until the input ends. The " +
			"tools are status,\n" +
			"query, explain, when, logs and whatif. They change nothing: an agent changes jobs with placectl's " +
			"verbs, which\n" +
			"have --dry-run and --key. Each call opens the database that --db named at the start.",
		Access:  verbs.Reads,
		Alone:   true,
		Example: "placectl --db /srv/cluster.db mcp",
		Run:     serveAgent,
	}
}

// Arguments that several tools take.
var (
	mcpJob     = mcp.Arg{Name: "job", Type: "string", About: "a job: 12, 12[3] of an array, or a name"}
	mcpRequest = []mcp.Arg{{Name: "select", Type: "string", About: "resources of a request: 2:ncpus=4:ngpus=1:mem=8gb"},
		{Name: "place", Type: "string", About: "placement on nodes: scatter, pack, excl"},
		{Name: "walltime", Type: "string", About: "maximum run time: 45m, 2h"}}
)

// mcpTools are the tools for an agent. None of them changes anything.
var mcpTools = []mcp.Tool{
	{Name: "status", About: "Nodes, what runs, what waits, and warnings.", Verb: []string{"status"}},
	{Name: "query", Verb: []string{"query", "--max-time=5s"},
		About: "Ask in SQL (SQLite's SELECT, read-only). Tables: jobs, nodes, attempts, events, allocations, " +
			"reservations, queues, history; " +
			"SELECT * FROM sys_columns lists their columns. Sizes, times and durations compare with texts: mem >= " +
			"'64GiB', start < 'now+2h'.",
		Args: []mcp.Arg{{Name: "sql", Type: "string", About: "a SELECT", Required: true, Last: true}}},
	{Name: "explain", About: "Why a job waits, or a request does not start now, and what would help. Give a job, " +
		"or a request.", Verb: []string{"explain"},
		Args: append([]mcp.Arg{mcpJob}, mcpRequest...)},
	{Name: "when", About: "When a waiting job, or a request, is expected to start. Give a job, or a request.",
		Verb: []string{"when"},
		Args: append([]mcp.Arg{mcpJob}, mcpRequest...)},
	{Name: "logs", About: "The last lines of a job's output.", Verb: []string{"logs"}, Text: true,
		Args: []mcp.Arg{{Name: "job", Type: "string", About: mcpJob.About, Required: true, Last: true},
			{Name: "tail", Type: "integer", About: "number of lines", Default: 100}}},
	{Name: "whatif", About: "How waits would change with nodes added or dropped, or under other rules.",
		Verb: []string{"whatif"},
		Args: []mcp.Arg{{Name: "add", Type: "string", About: "nodes to add: n[5-8] like n1"},
			{Name: "drop", Type: "string", About: "nodes to leave out: n[1-2]"},
			{Name: "backfill", Type: "string", About: "fcfs, easy or conservative"}}},
}

func serveAgent(r *session.Run, _ *cli.Context) error {
	version, _ := session.BuildVersion()
	s := mcp.Server{Version: version, Tools: mcpTools, Run: func(ctx context.Context, words []string, text bool) (
		[]byte, []byte) {
		return askedByAgent(r, ctx, words, text)
	}}
	return s.Serve(r.Ctx, r.Stdin, r.Stdout)
}

// askedByAgent runs a verb as if it were a command of its own, within this process.
func askedByAgent(r *session.Run, ctx context.Context, words []string, text bool) (answer, failure []byte) {
	var out, complaint bytes.Buffer
	e := r.Env
	e.Stdin, e.Stdout, e.Stderr, e.StdoutTTY, e.StderrTTY = strings.NewReader(""), &out, &complaint, false, false
	e.Getenv = func(name string) string {
		if name == session.StartVariable {
			return engine.StartManual // nothing is left behind or changed
		}
		return r.Getenv(name)
	}
	form := "--output=json"
	if text {
		form = "--output=table"
	}
	e.Args = nil
	for _, g := range r.Inv.Globals {
		if g.Flag.Name != "output" {
			e.Args = append(e.Args, g.Flag.Shown()+"="+g.Value)
		}
	}
	e.Args = append(append(e.Args, form), words...)
	sub := session.New(ctx, e, r.Verbs)
	err := sub.Delivered(sub.Main())
	sub.CloseAll()
	if err == nil {
		return out.Bytes(), nil
	}
	sub.Output = output.JSON
	complaint.Reset()
	sub.Report(err)
	return nil, complaint.Bytes()
}
