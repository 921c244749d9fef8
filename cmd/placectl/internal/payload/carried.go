package payload

import (
	"os"
	"path/filepath"

	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/environ"
)

// Carried is the environment of a user who submits on one host to a database on another, and the
// script. Texts are bytes, because they need not be UTF-8.
type Carried struct {
	Host       string
	Dir        string
	Umask      uint32
	Env        [][]byte
	Limits     []engine.ResourceLimit
	ScriptName string
	Script     []byte // nil: none
	Lines      []byte // of --each; nil: none
}

// Carry collects the environment of this process, and the script if there is one.
func Carry(variables []string, s *Script) (along *Carried, err error) {
	along = &Carried{Umask: environ.Umask(), Limits: environ.Limits()}
	for _, v := range variables {
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

// Environ returns the environment.
func (along *Carried) Environ() (list []string) {
	for _, v := range along.Env {
		list = append(list, string(v))
	}
	return list
}

// Under returns a directory relative to the carried working directory. Whether it exists cannot be
// checked here.
func (along *Carried) Under(dir string) string {
	if filepath.IsAbs(dir) {
		return filepath.Clean(dir)
	}
	return filepath.Join(along.Dir, dir)
}
