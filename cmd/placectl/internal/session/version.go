package session

import (
	"runtime/debug"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
)

// The version and commit of a release, which release/build.sh sets with -ldflags.
var stampedVersion, stampedCommit string

// BuildVersion reads the version that the build left in the program. commit is nil if it was
// built outside a checkout.
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
