package session

import (
	"runtime/debug"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
)

// What a release is built with: release/build.sh sets them by -ldflags.
var stampedVersion, stampedCommit string

// BuildVersion reads what the build left in the program; commit is nil where
// it was built outside a checkout.
func BuildVersion() (version string, commit any) {
	if stampedVersion != "" {
		return strings.TrimPrefix(stampedVersion, "v"), output.OrNil(stampedCommit)
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown", nil
	}
	version = strings.TrimPrefix(info.Main.Version, "v")
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
