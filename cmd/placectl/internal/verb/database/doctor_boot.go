package database

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/people"
	attempts "github.com/placectl/placectl/cmd/placectl/internal/runner"
)

// examineBoot says what a reboot, a logout and the end of a container do to a queue that runs
// without a supervisor.
func examineBoot() (all []attempts.Finding) {
	all = append(all, attempts.Finding{What: "reboot", State: attempts.Works,
		Detail: "your next command goes on with the queue; docs/recipes.md has a crontab line for it"})
	name := people.System.Name(uint32(os.Getuid()))
	_, lingers := os.Stat("/var/lib/systemd/linger/" + name)
	switch {
	case killsUserProcesses() && lingers != nil:
		all = append(all, attempts.Finding{What: "logout", State: attempts.Limited,
			Detail: "ends what you have left running, jobs too (KillUserProcesses=yes in logind.conf): loginctl " +
				"enable-linger keeps it"})
	default:
		all = append(all, attempts.Finding{What: "logout", State: attempts.Works,
			Detail: "jobs and the process that attends to the queue go on"})
	}
	if in := container(); in != "" {
		all = append(all, attempts.Finding{What: "container", State: attempts.Limited,
			Detail: in + ": when its first process ends, jobs end with it, and are lost"})
	}
	return all
}

// killsUserProcesses reports whether logind ends all processes of a user at logout.
func killsUserProcesses() (kills bool) {
	names, _ := filepath.Glob("/etc/systemd/logind.conf.d/*.conf")
	for _, name := range append([]string{"/etc/systemd/logind.conf"}, names...) {
		text, _ := os.ReadFile(name)
		for line := range strings.Lines(string(text)) {
			if value, is := strings.CutPrefix(strings.TrimSpace(line), "KillUserProcesses="); is {
				kills = value == "yes" || value == "true" || value == "1" || value == "on"
			}
		}
	}
	return kills
}

// container returns the name of this process's container, "" if there is none.
func container() string {
	for _, name := range []string{"/.dockerenv", "/run/.containerenv"} {
		if _, err := os.Stat(name); err == nil {
			return "this is a container (" + name + ")"
		}
	}
	return ""
}
