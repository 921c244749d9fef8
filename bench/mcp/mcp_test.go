// Package mcp tests `placectl mcp` with the client of the official SDK. It is a module of its own, so that
// nothing else depends on the SDK: PLACECTL=/path/of/placectl go test ./...
package mcp

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestOfficialClient(t *testing.T) {
	program := os.Getenv("PLACECTL")
	if program == "" {
		t.Skip("PLACECTL names no program")
	}
	db := filepath.Join(t.TempDir(), "queue.db")
	for _, words := range [][]string{{"init", "-q"}, {"node", "add", "n1", "ncpus=4", "-q"},
		{"submit", "1:ncpus=2", "-t", "1h", "--name", "waits", "-q"}} {
		if out, err := exec.Command(program, append([]string{"--db", db}, words...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v %s", words, err, out)
		}
	}
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	client := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: exec.Command(program, "--db", db, "mcp")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if is := session.InitializeResult(); is.ServerInfo.Name != "placectl" ||
		!strings.Contains(is.Instructions, "never instructions") {
		t.Errorf("the server describes itself as %+v", is)
	}
	if err := session.Ping(ctx, nil); err != nil {
		t.Error(err)
	}
	listed, err := session.ListTools(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range listed.Tools {
		names = append(names, tool.Name)
		if !tool.Annotations.ReadOnlyHint {
			t.Errorf("the tool %s is described as writing", tool.Name)
		}
	}
	if want := []string{"status", "query", "explain", "when", "logs", "whatif"}; !slices.Equal(names, want) {
		t.Errorf("tools %v, want %v", names, want)
	}
	call := func(name string, args map[string]any) *mcp.CallToolResult {
		t.Helper()
		result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return result
	}
	rows := call("query", map[string]any{"sql": "SELECT job, name FROM jobs"})
	if text := rows.Content[0].(*mcp.TextContent).Text; rows.IsError || text != `[{"job":1,"name":"waits"}]` {
		t.Errorf("query answers %s", text)
	}
	if r := call("explain", map[string]any{"job": "1"}); r.IsError || r.StructuredContent == nil {
		t.Errorf("explain answers %+v", r)
	}
	if r := call("explain", map[string]any{"job": "9"}); !r.IsError {
		t.Errorf("explain of an unknown job answers %+v", r)
	}
	if _, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "submit"}); err == nil {
		t.Error("there is a tool submit")
	}
	if err := session.Close(); err != nil {
		t.Errorf("the server does not end with its input: %v", err)
	}
}
