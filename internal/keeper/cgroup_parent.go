package keeper

import (
	"bufio"
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// groupParent returns the nearest parent of our own control group that delegates memory.
func groupParent() (string, error) {
	mount, own, err := ownGroup()
	if err != nil {
		return "", err
	}
	for at := own; ; at = filepath.Dir(at) {
		parent := filepath.Join(mount, at)
		given, failed := os.ReadFile(parent + "/cgroup.subtree_control")
		if failed == nil && strings.Contains(" "+strings.TrimSpace(string(given))+" ", " memory ") {
			return parent, nil
		}
		if at == "/" || at == "." {
			return "", errors.New("no parent of " + filepath.Join(mount, own) + " hands memory on")
		}
	}
}

// ownGroup returns where the groups of version 2 are mounted, and which one is ours.
func ownGroup() (mount, own string, err error) {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", "", err
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "0::"); ok {
			own = strings.TrimSpace(rest)
		}
	}
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return "", "", err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		where, what, _ := strings.Cut(lines.Text(), " - ")
		if fields := strings.Fields(where); strings.HasPrefix(what, "cgroup2 ") && len(fields) > 4 && own != "" {
			return fields[4], own, nil
		}
	}
	return "", "", errors.New("no control groups of version 2 are mounted")
}
