package main

import (
	"fmt"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/spell"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
)

// globals are the settings that every verb shares.
type globals struct {
	DB          string
	Now         time.Time // zero for the clock
	Output      output.Format
	NoHeader    bool
	Raw         bool // csv without the guard against formulas
	Quiet       bool
	Verbose     bool
	NoColor     bool
	LockTimeout time.Duration
}

// globalFlag is one of them as it is written on the command line, or in the
// environment.
type globalFlag struct {
	name, short string
	value       string // what to call its value in help, "" for a switch
	env         string
	usage       string
	set         func(g *globals, value string, e env) error
}

func (f *globalFlag) takesValue() bool { return f.value != "" }

// shown is how messages call the flag.
func (f *globalFlag) shown() string { return "--" + f.name }

// globalFlags is the table that parsing and help share.
var globalFlags = []globalFlag{
	{name: "db", value: "FILE", env: "PLACECTL_DB", usage: "the database (./placectl.db)", set: setDB},
	{name: "now", value: "TIME", env: "PLACECTL_NOW", usage: "the instant to work at, for planning and tests", set: setNow},
	{name: "output", short: "o", value: "FORMAT", env: "PLACECTL_OUTPUT", usage: spell.List(output.FormatNames(), "or"), set: setOutput},
	{name: "no-header", usage: "no line of column names", set: setSwitch(func(g *globals) *bool { return &g.NoHeader })},
	{name: "raw", usage: "csv cells as they are, even where a spreadsheet would run them", set: setSwitch(func(g *globals) *bool { return &g.Raw })},
	{name: "lock-timeout", value: "DUR", usage: "how long to wait for other processes (30s)", set: setLockTimeout},
	{name: "quiet", short: "q", usage: "no notes, no progress", set: setSwitch(func(g *globals) *bool { return &g.Quiet })},
	{name: "verbose", short: "v", usage: "more notes", set: setSwitch(func(g *globals) *bool { return &g.Verbose })},
	{name: "no-color", env: "NO_COLOR", usage: "no colour", set: setNoColor},
	{name: "help", short: "h", usage: "explain the verb"},
	{name: "version", usage: "the same as the verb version"},
}

func findGlobal(name string) *globalFlag {
	for i := range globalFlags {
		if f := &globalFlags[i]; name == f.name || name != "" && name == f.short {
			return f
		}
	}
	return nil
}

// readGlobals takes each setting from the command line (the last one given
// counts), else from the environment. It reads on after an error and returns
// the first.
func readGlobals(given []setting, e env) (globals, error) {
	g := globals{DB: "placectl.db", LockTimeout: 30 * time.Second}
	var first error
	for i := range globalFlags {
		f := &globalFlags[i]
		if f.set == nil {
			continue
		}
		value, source := lookUp(f, given, e)
		if value == "" && source == "" {
			continue
		}
		if err := f.set(&g, value, e); err != nil && first == nil {
			first = usage.Of("", "%s: %w", source, err)
		}
	}
	return g, first
}

func lookUp(f *globalFlag, given []setting, e env) (value, source string) {
	for i := len(given) - 1; i >= 0; i-- {
		if given[i].flag == f {
			return given[i].value, f.shown()
		}
	}
	if f.env == "" {
		return "", ""
	}
	// An empty variable is one that is not set.
	if value = e.getenv(f.env); value == "" {
		return "", ""
	}
	return value, "the environment variable " + f.env
}

func setDB(g *globals, value string, _ env) error {
	if value == "" {
		return fmt.Errorf("the name of the database is empty")
	}
	g.DB = value
	return nil
}

func setNow(g *globals, value string, e env) (err error) {
	g.Now, err = spell.ParseTime(value, e.now(), e.loc)
	return err
}

func setOutput(g *globals, value string, _ env) (err error) {
	g.Output, err = output.ParseFormat(value)
	return err
}

func setLockTimeout(g *globals, value string, _ env) (err error) {
	g.LockTimeout, err = spell.ParseDuration(value)
	return err
}

// setNoColor follows no-color.org: any value of the variable counts, whatever
// it says; only the flag itself can be turned off again.
func setNoColor(g *globals, value string, _ env) error {
	on, err := spell.ParseSwitch(value)
	g.NoColor = on || err != nil
	return nil
}

func setSwitch(field func(*globals) *bool) func(*globals, string, env) error {
	return func(g *globals, value string, _ env) (err error) {
		*field(g), err = spell.ParseSwitch(value)
		return err
	}
}
