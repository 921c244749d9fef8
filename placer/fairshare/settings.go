package fairshare

import "slices"

// Limits of settings.
const (
	MaxName     = 255     // bytes of a class's name
	MaxMappings = 1 << 12 // entries of a requestor map
	MaxRegexp   = 4096    // bytes of one regular expression
)

// Settings are set by an administrator, and plain so that they can be stored. Change them by their
// methods, which refuse invalid changes and leave everything as it was. Use Check on settings from
// elsewhere. The zero value has no classes: the cluster does not share by classes.
type Settings struct {
	Loads []ClassLoad
	Map   []Mapping // tried in this order
	// class of requestors that match nothing; "": the last in class order, which has the smallest load
	Default   string
	Rebalance Rebalance
	Allow     []Permission // permissions for restricted classes
	Spare     Spare        // tasks that rebalancing does not stop
}

// A Permission lets someone ask for a class, user=ann or group=lab, and no one else.
type Permission struct {
	Class string
	Who   []string
}

// Allowed returns who may ask for a class, or nil if all may.
func (s *Settings) Allowed(class string) []string {
	for _, p := range s.Allow {
		if p.Class == class {
			return p.Who
		}
	}
	return nil
}

// SetAllowed sets who may ask for a class; nil allows all users.
func (s *Settings) SetAllowed(class string, who []string) {
	s.Allow = slices.DeleteFunc(slices.Clone(s.Allow), func(p Permission) bool { return p.Class == class })
	if len(who) > 0 {
		s.Allow = append(s.Allow, Permission{class, who})
	}
}

// Spare exempts tasks from rebalancing. The zero value exempts none.
type Spare struct {
	MinRun int64 // spares tasks that have run for less, in seconds
	AtMost int   // spares tasks stopped this often; 0: no limit
}

// A ClassLoad is a class's load, relative to the loads of the others.
type ClassLoad struct {
	Class string
	Load  int
}

// A Mapping puts the requestors that a regular expression matches into a class. The
// expression is Go's (RE2), and matches anywhere unless it says ^ and $.
type Mapping struct {
	Class     string
	Requestor string
}

// ClassLoads returns the classes with their loads, as they were set.
func (s *Settings) ClassLoads() []ClassLoad { return slices.Clone(s.Loads) }

// RequestorMap returns the mappings in the order in which they are tried.
func (s *Settings) RequestorMap() []Mapping { return slices.Clone(s.Map) }

// DefaultClass returns the class of requestors that match nothing.
func (s *Settings) DefaultClass() string {
	if s.Default == "" {
		return s.least()
	}
	return s.Default
}

// RebalanceThreshold returns the spread at which classes are rebalanced, in percentage points; 0 for
// never.
func (s *Settings) RebalanceThreshold() int { return s.Rebalance.Threshold }

// RebalanceMinimumDuration returns how many seconds the spread must stay at or above the threshold; 0
// for never.
func (s *Settings) RebalanceMinimumDuration() int64 { return s.Rebalance.MinDuration }

// SetClassLoads replaces the classes. No load may be negative, and one must be above 0. The default
// class, and the classes in the requestor map, must be among them.
func (s *Settings) SetClassLoads(loads []ClassLoad) error {
	if len(loads) == 0 {
		return loadError(-1, "there are none: expected at least one class with a load above 0")
	}
	next := *s
	next.Loads = slices.Clone(loads)
	return s.become(next)
}

// SetRequestorMap replaces the mappings.
func (s *Settings) SetRequestorMap(mappings []Mapping) error {
	next := *s
	next.Map = slices.Clone(mappings)
	return s.become(next)
}

// SetDefaultClass sets the class of requestors that match nothing; "" for the class with the smallest
// load.
func (s *Settings) SetDefaultClass(class string) error {
	next := *s
	next.Default = class
	return s.become(next)
}

// SetRebalanceThreshold sets the spread in percentage points, at most MaxThreshold.
func (s *Settings) SetRebalanceThreshold(points int) error {
	next := *s
	next.Rebalance.Threshold = points
	return s.become(next)
}

// SetRebalanceMinimumDuration sets the duration in seconds.
func (s *Settings) SetRebalanceMinimumDuration(seconds int64) error {
	next := *s
	next.Rebalance.MinDuration = seconds
	return s.become(next)
}

// SetSpare sets which tasks rebalancing does not stop.
func (s *Settings) SetSpare(to Spare) error {
	next := *s
	next.Spare = to
	return s.become(next)
}

// become takes over new settings if they are valid.
func (s *Settings) become(next Settings) error {
	if err := next.Check(); err != nil {
		return err
	}
	*s = next
	return nil
}
