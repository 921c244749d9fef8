package main

import (
	"runtime"
	"runtime/debug"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func versionVerb() *verb {
	return &verb{
		Name:     "version",
		Category: "Store",
		Usage:    "what this program is, and the file format it writes",
		Example:  "placectl version -o id",
		Run:      (*runner).version,
	}
}

func (r *runner) version(*cli.Context) error {
	p := r.printer(output.Result{
		Record: true,
		Columns: []output.Column{
			{Name: "version"},
			{Name: "commit"},
			{Name: "go"},
			{Name: "platform"},
			{Name: "format", Kind: output.Integer},
		},
	})
	version, commit := buildVersion()
	p.Row(version, commit, runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH, store.Format)
	return p.Close()
}

// What a release is built with (release/build.sh): -ldflags "-X main.stampedVersion=...".
var stampedVersion, stampedCommit string

// buildVersion reads what the build left in the program; commit is nil where
// it was built outside a checkout.
func buildVersion() (version string, commit any) {
	if stampedVersion != "" {
		return stampedVersion, output.OrNil(stampedCommit)
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown", nil
	}
	version = info.Main.Version
	if version == "" {
		version = "(devel)"
	}
	modified := ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = "+changes"
		}
	}
	if c, ok := commit.(string); ok {
		commit = c + modified
	}
	return version, commit
}
