package verbs

import (
	"fmt"
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/internal/text"
)

// Globals are the settings that every verb shares.
type Globals struct {
	DB          string
	Now         time.Time // zero for the clock
	Output      output.Format
	Columns     string // of a table, separated by commas; "" for all
	NoHeader    bool
	Raw         bool // logs without the guard of terminals
	Quiet       bool
	Verbose     bool
	NoColor     bool
	LockTimeout time.Duration
	Stale       time.Duration // the greatest age of a replica for readers; negative: any age
	// written to standard error after placectl-begun, before anything is done; "": not written
	Begun string
}

// Surroundings is what reading the global flags depends on.
type Surroundings struct {
	Getenv func(string) string
	Now    func() time.Time
	Zone   *time.Location // the zone of local times
}

// GlobalFlag is a global flag, which may be set on the command line or in the environment.
type GlobalFlag struct {
	Name, Short string
	Value       string // the name of the value in help, "" for a switch
	Env         string
	Usage       string
	Hidden      bool
	set         func(g *Globals, value string, e Surroundings) error
}

func (f *GlobalFlag) takesValue() bool { return f.Value != "" }

// Shown returns the flag as messages name it.
func (f *GlobalFlag) Shown() string { return "--" + f.Name }

// GlobalFlags is the table that parsing and help share.
var GlobalFlags = []GlobalFlag{
	{Name: "db", Value: "FILE", Env: "PLACECTL_DB", Usage: "database (./placectl.db); ssh://[USER@]HOST/PATH on " +
		"another host; etcd://HOST:PORT,.../PREFIX in etcd", set: setDB},
	{Name: "now", Value: "TIME", Env: "PLACECTL_NOW", Usage: "work at this time, for planning and tests", set: setNow},
	{Name: "output", Short: "o", Value: "FORMAT", Env: "PLACECTL_OUTPUT", Usage: text.List(output.FormatNames(), "or") +
		"; or columns of a table: job,state,safe", set: setOutput},
	{Name: "no-header", Usage: "omit the line of column names", set: setSwitch(func(g *Globals) *bool {
		return &g.NoHeader
	})},
	{Name: "raw", Usage: "print logs to the terminal unchanged, even if that would execute them",
		set: setSwitch(func(g *Globals) *bool { return &g.Raw })},
	{Name: "lock-timeout", Value: "DUR", Usage: "timeout for waiting for other processes (30s)", set: setLockTimeout},
	{Name: "stale", Value: "DUR", Env: "PLACECTL_STALE",
		Usage: "accept answers this old, or of \"any\" age, from a database in etcd", set: setStale},
	{Name: "quiet", Short: "q", Usage: "say nothing when all is well; else a line for each failure",
		set: setSwitch(func(g *Globals) *bool { return &g.Quiet })},
	{Name: "verbose", Short: "v", Usage: "more notes", set: setSwitch(func(g *Globals) *bool { return &g.Verbose })},
	{Name: "no-color", Env: "NO_COLOR", Usage: "no colour", set: setNoColor},
	{Name: "begun", Value: "WORD", Hidden: true, set: setBegun},
	{Name: "help", Short: "h", Usage: "explain a verb"},
	{Name: "version", Usage: "same as the verb version"},
}

// FindGlobal finds a global flag by either of its names, nil if there is none.
func FindGlobal(name string) *GlobalFlag {
	for i := range GlobalFlags {
		if f := &GlobalFlags[i]; name == f.Name || name != "" && name == f.Short {
			return f
		}
	}
	return nil
}

// ReadGlobals takes each setting from the command line, where the last one counts, or else from
// the environment. After an error it reads on and returns the first.
func ReadGlobals(given []Setting, e Surroundings) (Globals, error) {
	g := Globals{DB: "placectl.db", LockTimeout: 30 * time.Second}
	var first error
	for i := range GlobalFlags {
		f := &GlobalFlags[i]
		if f.set == nil {
			continue
		}
		value, source := f.LookUp(given, e)
		if value == "" && source == "" {
			continue
		}
		if err := f.set(&g, value, e); err != nil && first == nil {
			first = usage.Of("", "%s: %w", source, err)
		}
	}
	return g, first
}

// LookUp finds a global flag's value and its source, or "".
func (f *GlobalFlag) LookUp(given []Setting, e Surroundings) (value, source string) {
	for i := len(given) - 1; i >= 0; i-- {
		if given[i].Flag == f {
			return given[i].Value, f.Shown()
		}
	}
	if f.Env == "" {
		return "", ""
	}
	// An empty variable counts as not set.
	if value = e.Getenv(f.Env); value == "" {
		return "", ""
	}
	return value, "the environment variable " + f.Env
}

func setDB(g *Globals, value string, _ Surroundings) error {
	if value == "" {
		return fmt.Errorf("the name of the database is empty")
	}
	g.DB = value
	return nil
}

func setBegun(g *Globals, value string, _ Surroundings) error {
	g.Begun = value
	return nil
}

func setNow(g *Globals, value string, e Surroundings) (err error) {
	g.Now, err = text.ParseTime(value, e.Now(), e.Zone)
	return err
}

func setOutput(g *Globals, value string, _ Surroundings) (err error) {
	if strings.Contains(value, ",") && strings.Trim(value, ",") != "" {
		g.Output, g.Columns = output.Table, value
		return nil
	}
	g.Columns = ""
	g.Output, err = output.ParseFormat(value)
	return err
}

func setLockTimeout(g *Globals, value string, _ Surroundings) (err error) {
	g.LockTimeout, err = text.ParseDuration(value)
	return err
}

// setStale accepts a duration, or "any".
func setStale(g *Globals, value string, _ Surroundings) (err error) {
	if value == "any" {
		g.Stale = -1
		return nil
	}
	g.Stale, err = text.ParseDuration(value)
	return err
}

// setNoColor follows no-color.org: any value of the variable turns colour off. Only the flag
// itself can turn it on again.
func setNoColor(g *Globals, value string, _ Surroundings) error {
	on, err := text.ParseSwitch(value)
	g.NoColor = on || err != nil
	return nil
}

func setSwitch(field func(*Globals) *bool) func(*Globals, string, Surroundings) error {
	return func(g *Globals, value string, _ Surroundings) (err error) {
		*field(g), err = text.ParseSwitch(value)
		return err
	}
}
