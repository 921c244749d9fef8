package keeper

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Everything that a job starts ends with it. So a command inside a job that wants to leave an attendant
// behind asks the job's keeper to start it.

// summonFile is the file in the directory of the epoch that requests an attendant.
const summonFile = "summon"

// AskForAttendant asks the keeper of the job around this process for an attendant. It returns false if
// this process is not part of a job with a keeper.
func AskForAttendant(getenv func(string) string) (asked bool, err error) {
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
	f, err := root.OpenFile(summonFile, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return false, err
	}
	f.Close()
	for _, e := range list {
		if strings.HasPrefix(e.Name(), bellPrefix) {
			exists, _ := ringBell(root, e.Name())
			asked = asked || exists
		}
	}
	if !asked { // no keeper runs: the next one leaves an attendant at its end
		root.Remove(summonFile) //nolint:errcheck // the next keeper finds it
	}
	return asked, nil
}
