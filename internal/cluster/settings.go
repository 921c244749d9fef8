package cluster

import (
	"slices"

	"github.com/placectl/placectl/internal/jobs"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/queue"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/users"
)

// Settings returns a copy of the store's settings.
func (cf Config) Settings() (*kernel.Settings, error) {
	set, err := cf.tx.Settings()
	if err != nil {
		return nil, err
	}
	s := *set
	for _, list := range []*[]string{&s.Signature, &s.GroupKey, &s.Topology, &s.LocalProgram, &s.Hook, &s.Health} {
		*list = slices.Clone(*list)
	}
	return &s, nil
}

// AllSettings lists every setting with its value.
func (cf Config) AllSettings() ([]kernel.Setting, error) {
	var out []kernel.Setting
	for _, def := range kernel.SettingDefs {
		payload, err := cf.tx.File.Get(row.Config, []byte(def.Name))
		if err != nil {
			return nil, err
		}
		s := kernel.Setting{Name: def.Name, Value: def.Value, Default: def.Value, Doc: def.Doc}
		if payload != nil {
			s.Value, s.Set = row.DecodeText(payload), true
		}
		out = append(out, s)
	}
	return out, nil
}

// Set changes a setting; an empty value restores the default. Changing the signature sorts
// all nodes into buckets again.
func (cf Config) Set(name, value string) error {
	right := users.Operators
	if slices.Contains(ownersSettings, name) {
		right = users.Owners
	}
	if err := users.RolesOf(cf.tx).MayChange(right, "the setting "+name); err != nil {
		return err
	}
	return configure(cf.tx, name, value)
}

// ownersSettings are the settings that name programs which others execute, or paths to which
// they write. Only the owner may change them.
var ownersSettings = []string{"health", "hook", "launch_db", "local_program", "path", "state_dir"}

func configure(tx *kernel.Tx, name, value string) error {
	if err := tx.PutSetting(name, value); err != nil {
		return err
	}
	switch {
	case name == "half_life" || name == "job_priority":
		*queue.Orders.In(tx) = nil
		return tx.Loaded.Book.DecayAnew()
	case name == "start" && value == kernel.StartAuto:
		return jobs.LeftToLaunch(tx)
	case name == "hook":
		return HookOf(tx).set(value != "")
	case name == "signature":
		return rebuild(tx)
	}
	return nil
}
