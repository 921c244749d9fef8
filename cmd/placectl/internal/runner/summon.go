package runner

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// What a job starts ends with it. So a command inside a job that is to leave a process behind
// which looks after the queue asks the job's keeper to start it.

// summonFile in the directory of the epoch asks for it.
const summonFile = "summon"

// AskForAttendant asks the keeper of the job that this process is a part of for an
// attendant. It is false if this process is not part of a job that has one.
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
		asked = strings.HasPrefix(e.Name(), bellPrefix) && ringBell(root, e.Name()) || asked
	}
	if !asked { // the keeper is gone: the next one leaves an attendant at the end
		root.Remove(summonFile) //nolint:errcheck // the next one finds it
	}
	return asked, nil
}
