package payload

import (
	"os"
	"path/filepath"

	"github.com/placectl/placectl/store"
)

// Carried is the environment of a user who submits on one host to a database on another, and the
// script. Texts are bytes: they need not be UTF-8.
type Carried struct {
	Host       string
	Dir        string
	Umask      uint32
	Env        [][]byte
	Limits     []store.ResourceLimit
	ScriptName string
	Script     []byte // nil: he has none
	Lines      []byte // of --each; nil: there are none
	Partial    bool   `json:",omitempty"` // Env are only those of Always
}

// Carry are the surroundings of this process, and the script, nil for none.
func Carry(environ []string, s *Script) (along *Carried, err error) {
	along = &Carried{Umask: ownUmask(), Limits: resourceLimits()}
	for _, v := range environ {
		along.Env = append(along.Env, []byte(v))
	}
	if along.Dir, err = os.Getwd(); err != nil {
		return nil, err
	}
	if along.Host, err = os.Hostname(); err != nil {
		return nil, err
	}
	if s != nil {
		along.ScriptName, along.Script = s.Name, []byte(s.Text)
	}
	return along, nil
}

// Environ is the environment.
func (along *Carried) Environ() (list []string) {
	for _, v := range along.Env {
		list = append(list, string(v))
	}
	return list
}

// Under is a directory as seen from the one that they stand in. Whether it is there cannot
// be told here.
func (along *Carried) Under(dir string) string {
	if filepath.IsAbs(dir) {
		return filepath.Clean(dir)
	}
	return filepath.Join(along.Dir, dir)
}
