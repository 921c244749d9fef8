package fairshare

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Check verifies settings as a whole. It fails with a *SettingError.
func (s *Settings) Check() error {
	_, err := s.Matcher()
	return err
}

// checkRest verifies all but the requestor map.
func (s *Settings) checkRest() error {
	if err := s.checkLoads(); err != nil {
		return err
	}
	if s.Default != "" && !s.has(s.Default) {
		return &SettingError{What: "default class", Entry: -1, Text: s.Default, Pos: -1, Why: s.missing()}
	}
	if why := s.Rebalance.check(); why != "" {
		what := "rebalance threshold"
		if s.Rebalance.MinDuration < 0 {
			what = "rebalance minimum duration"
		}
		return &SettingError{What: what, Entry: -1, Pos: -1, Why: why}
	}
	if s.Spare.MinRun < 0 || s.Spare.AtMost < 0 || !counts(s.Spare.AtMost) {
		return &SettingError{What: "rebalance spares", Entry: -1, Pos: -1,
			Why: fmt.Sprintf("a run time of %d s or a number of stops of %d: expected 0 or more", s.Spare.MinRun,
				s.Spare.AtMost)}
	}
	return nil
}

func (s *Settings) checkLoads() error {
	if len(s.Loads) > MaxClasses {
		return loadError(MaxClasses, "there are %d: expected at most %d", len(s.Loads), MaxClasses)
	}
	names := make(map[string]bool, len(s.Loads))
	loaded := len(s.Loads) == 0
	for i, c := range s.Loads {
		if why := checkName(c.Class); why != "" {
			e := loadError(i, "%s", why)
			e.Text = c.Class
			return e
		}
		if names[c.Class] {
			return loadError(i, "class %q has a load already: expected each class once", c.Class)
		}
		names[c.Class] = true
		if !counts(c.Load) {
			return loadError(i, "class %q: a load of %d: expected 0 to %d", c.Class, c.Load, int64(MaxCount))
		}
		loaded = loaded || c.Load > 0
	}
	if !loaded {
		return loadError(-1, "no class has one: expected at least one above 0")
	}
	return nil
}

func loadError(entry int, format string, args ...any) *SettingError {
	return &SettingError{What: "class loads", Entry: entry, Pos: -1, Why: fmt.Sprintf(format, args...)}
}

// checkName says what is wrong with a class's name, or "" if nothing is. Names are written as NAME=LOAD and
// in lists, so they contain neither = nor a comma.
func checkName(name string) string {
	if name == "" {
		return "a class without a name: expected one"
	}
	if len(name) > MaxName {
		return fmt.Sprintf("a name of %d bytes: expected at most %d", len(name), MaxName)
	}
	for _, r := range name {
		if r == utf8.RuneError || r == '=' || r == ',' || !unicode.IsGraphic(r) || unicode.IsSpace(r) {
			return fmt.Sprintf("a name with %q in it: expected no spaces, signs that do not print, '=' or ','", r)
		}
	}
	return ""
}

func (s *Settings) has(class string) bool {
	for i := range s.Loads {
		if s.Loads[i].Class == class {
			return true
		}
	}
	return false
}

// missing says that a class does not exist, and which ones do.
func (s *Settings) missing() string {
	names := make([]string, 0, len(s.Loads))
	for _, c := range s.Loads {
		names = append(names, c.Class)
	}
	if len(names) == 0 {
		return "there is no such class: expected class loads to be set first"
	}
	if len(names) > 8 {
		names = append(names[:8], "...")
	}
	return "there is no such class: expected one of " + strings.Join(names, ", ")
}
