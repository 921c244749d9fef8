package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"slices"

	"github.com/placectl/placectl/cmd/placectl/internal/payload"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/urfave/cli/v2"
)

// carriedFlag says that the surroundings of who submits come from standard input: submit
// over ssh sends them along.
const carriedFlag = "carried"

// carry makes the command line of a submission that is made elsewhere, and what it is to
// read there: the surroundings here, and the script. What is wrong with them is found here.
func (r *runner) carry(inv invocation, c *cli.Context, in io.Reader) (invocation, io.Reader, error) {
	selects, sc, err := r.scriptOf(c, r.plainArgs(c))
	if err != nil || sc == nil && r.dash < 0 {
		return inv, in, err
	}
	checked := payload.Process{Environ: r.environ, Note: func(string, ...any) {}, Detail: func(string, ...any) {}}
	if _, err := checked.Read(c, nil); err != nil {
		return inv, nil, err
	}
	along := payload.Carry(r.environ())
	if along.Dir, err = os.Getwd(); err != nil {
		return inv, nil, err
	}
	if along.Host, err = os.Hostname(); err != nil {
		return inv, nil, err
	}
	if sc != nil {
		along.ScriptName, along.Script = sc.Name, []byte(sc.Text)
	}
	text, err := json.Marshal(along)
	if err != nil {
		return inv, nil, err
	}
	out := inv
	out.Flags = slices.DeleteFunc(slices.Clone(inv.Flags), func(g verbs.Given) bool { return g.Name() == "script" })
	out.Flags = append(out.Flags, verbs.Given{Flag: verbs.FindFlag(r.verb.Flags, carriedFlag), Value: "true"})
	out.Args, out.Dash = selects, -1
	if r.dash >= 0 {
		out.Args, out.Dash = slices.Concat(selects, inv.Args[r.dash:]), len(selects)
	}
	return out, bytes.NewReader(text), nil
}

// readCarried reads what carry has sent, nil where this is where somebody submits. The
// script is part of what a key is bound to, and the environment is not.
func (r *runner) readCarried(c *cli.Context) (err error) {
	if !c.Bool(carriedFlag) || r.carried != nil {
		return nil
	}
	text, err := io.ReadAll(r.stdin)
	if err != nil {
		return err
	}
	along := new(payload.Carried)
	if err := json.Unmarshal(text, along); err != nil {
		return usagef("--%s is for placectl --db ssh://..., which says what is to be read: %w", carriedFlag, err)
	}
	r.inputs.Add(string(along.Script))
	r.carried = along
	return nil
}
