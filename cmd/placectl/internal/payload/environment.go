package payload

import (
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/internal/environ"
	"github.com/placectl/placectl/internal/text"
)

// notExported are variables that only concern this process.
var notExported = []string{"_", "PWD", "OLDPWD", "SHLVL"}

// exported returns a job's environment, sorted by name.
func (p Process) exported(flags Flags) ([]string, error) {
	items, err := text.SplitItems(flags.String("export"))
	switch {
	case err != nil:
		return nil, usage.Errorf("--export: %w", err)
	case !flags.IsSet("export"):
		if items = []string{p.Export}; p.Export == "" {
			items = []string{p.defaultExport()}
		}
	case len(items) == 0:
		return nil, usage.Errorf("--export is empty: write all, none, NAME or NAME=VALUE")
	}
	if slices.Contains(items, "all") && slices.Contains(items, "none") {
		return nil, usage.Errorf("--export cannot be both all and none")
	}
	here := p.variables()
	env := make(map[string]string)
	var secret []string
	for name, value := range here {
		switch {
		case environ.IsUsers(name), name == "MAIL" && p.Export != "":
		case !slices.Contains(items, "all") || slices.Contains(notExported, name) || ofJob(name):
			continue
		case isSecret(name) && !p.Original:
			secret = append(secret, name)
			continue
		}
		env[name] = value
	}
	for _, item := range items {
		name, value, set := strings.Cut(item, "=")
		if item == "all" || item == "none" {
			continue
		}
		if _, there := here[name]; p.Original && !set && !there {
			continue
		}
		if value, err = named(name, value, set, here); err != nil {
			return nil, err
		}
		env[name] = value
		secret = slices.DeleteFunc(secret, func(s string) bool { return s == name })
	}
	if slices.Sort(secret); len(secret) > 0 {
		p.Note("not passed on to the job: %s; --export all,%s does", strings.Join(secret, ", "),
			strings.Join(secret, ","))
	}
	list := make([]string, 0, len(env))
	for _, name := range slices.Sorted(maps.Keys(env)) {
		list = append(list, name+"="+env[name])
	}
	return list, nil
}

// named returns the value of a variable that --export names.
func named(name, value string, set bool, here map[string]string) (string, error) {
	there := false
	if !set {
		value, there = here[name]
	}
	switch {
	case name == "" || strings.ContainsAny(name, " \t\n\x00"):
		return "", usage.Errorf("--export: %s is not the name of a variable", text.Quoted(name))
	case ofJob(name) && (!set || strings.HasPrefix(name, "PLACECTL_")):
		return "", usage.Errorf("--export: %s belongs to the submitting job and cannot be exported", name)
	case !set && !there:
		return "", usage.Errorf("--export: %s is not set; %s=VALUE sets it", text.Quoted(name), text.Printable(name))
	case strings.IndexByte(value, 0) >= 0:
		return "", usage.Errorf("--export: the value of %s has a NUL byte", name)
	}
	return value, nil
}

// variables returns this process's variables.
func (p Process) variables() map[string]string {
	vars := make(map[string]string)
	for _, v := range p.Environ() {
		if name, value, ok := strings.Cut(v, "="); ok && name != "" {
			vars[name] = value
		}
	}
	return vars
}

// ofJob reports whether a variable describes a job to itself. A job that submits another does not pass
// such variables on.
func ofJob(name string) bool {
	prefixes := []string{"PLACECTL_", "PBS_", "SLURM_"}
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// isSecret reports whether a variable is likely to be secret.
func isSecret(name string) bool {
	name = strings.ToUpper(name)
	return strings.Contains(name, "TOKEN") || strings.Contains(name, "SECRET") || strings.Contains(name, "PASSWORD") ||
		strings.HasSuffix(name, "_KEY")
}

// defaultExport returns the default of --export: users who can read the database can read what jobs
// carry.
func (p Process) defaultExport() string {
	info, err := os.Stat(p.Database)
	if err != nil {
		return "none"
	}
	if owner := info.Sys().(*syscall.Stat_t).Uid; int(owner) == os.Geteuid() && info.Mode()&(fs.ModePerm&0o044) == 0 {
		return "all"
	}
	p.Detail("others can read the database: of the environment only what --export names goes along")
	return "none"
}
