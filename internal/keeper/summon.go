package keeper

import (
	"crypto/rand"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Everything that a job starts ends with it. So a command inside a job that wants to leave an attendant
// behind asks the job's keeper to start it.

// summonFile is the file in the directory of the epoch that requests attendants. Links beside it, whose names begin
// with its name and a dot, lead to their databases.
const summonFile = "summon"

// AskForAttendant asks the keeper of the job around this process for an attendant of a database, which need not be
// the job's. It returns false if this process is not part of a job with a keeper.
func AskForAttendant(getenv func(string) string, database string) (asked bool, err error) {
	if getenv(tokenName) == "" || getenv(ElsewhereName) == "" {
		return false, nil
	}
	root, err := os.OpenRoot(filepath.Dir(filepath.Dir(getenv(ElsewhereName))))
	if err != nil {
		return false, nil //nolint:nilerr // the attempt has ended
	}
	defer root.Close()
	list, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return false, nil //nolint:nilerr // as before
	}
	link := summonFile + "." + rand.Text()
	if err := root.Symlink(database, link); err != nil {
		return false, err
	}
	if err := root.WriteFile(summonFile, nil, 0o600); err != nil {
		return false, err
	}
	for _, e := range list {
		if strings.HasPrefix(e.Name(), bellPrefix) {
			exists, _ := ringBell(root, e.Name())
			asked = asked || exists
		}
	}
	if !asked { // no keeper runs: the next one leaves an attendant at its end
		root.Remove(link)       //nolint:errcheck // the next keeper finds it
		root.Remove(summonFile) //nolint:errcheck // the next keeper finds it
	}
	return asked, nil
}

// summonAll starts the attendants that commands have asked for.
func (k *keeper) summonAll() {
	links, _ := fs.Glob(k.state.epoch.FS(), summonFile+".*")
	for _, link := range links {
		if database, err := k.state.epoch.Readlink(link); err == nil && k.state.epoch.Remove(link) == nil {
			k.summon(database)
		}
	}
}
