package runner

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// What a job starts ends with it. So a command inside a job that is to leave a process behind
// which looks after the queue asks the job's supervisor to start it.

// summonFile in an attempt's directory asks for it.
const summonFile = "summon"

// AskForAttendant asks the supervisor of the job that this process is a part of for an
// attendant. It is false where this process is not part of a job that has one.
func AskForAttendant(getenv func(string) string) (asked bool, err error) {
	if getenv(tokenName) == "" || getenv(ElsewhereName) == "" {
		return false, nil
	}
	root, err := os.OpenRoot(filepath.Dir(getenv(ElsewhereName)))
	if err != nil {
		return false, nil //nolint:nilerr // the attempt has ended
	}
	defer root.Close()
	bell, err := root.OpenFile(bellFile, os.O_WRONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return false, nil //nolint:nilerr // the supervisor is gone: the one that adopts the job leaves an attendant at the end
	}
	defer bell.Close()
	f, err := root.OpenFile(summonFile, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return false, err
	}
	f.Close()
	_, err = bell.Write([]byte{1})
	return true, err
}

// summoned starts an attendant if a process of the job has asked for one.
func (a *attendance) summoned() {
	if a.Summon != nil && a.dir.has(summonFile) && a.dir.root.Remove(summonFile) == nil {
		if err := a.Summon(); err != nil {
			a.notef("%s: the queue is not looked after: %v", a.dir.Key, err)
		}
	}
}
