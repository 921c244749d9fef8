// Package about holds the verbs that describe the command itself: version, completion, man.
package about

import (
	"runtime"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/internal/engine"
	"github.com/urfave/cli/v2"
)

// Version declares the verb version.
func Version() *session.Verb {
	return &session.Verb{
		Name:     "version",
		Category: "Store",
		Usage:    "show the version and the file format it writes",
		May:      engine.Anybody,
		Brief:    true,
		Example:  "placectl version -o id",
		Run:      version,
	}
}

func version(r *session.Run, _ *cli.Context) error {
	p := r.Printer(output.Result{
		Record: true,
		Columns: []output.Column{
			{Name: "version"},
			{Name: "commit"},
			{Name: "go"},
			{Name: "platform"},
			{Name: "format", Kind: output.Integer},
		},
	})
	version, commit := session.BuildVersion()
	p.Row(version, commit, runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH, engine.Format)
	return p.Close()
}
