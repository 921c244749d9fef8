package index

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/placectl/placectl/index/devices"
)

// State is the state that an administrator or a health check gives a node. The numbers are on
// disk and must not change.
type State uint8

// The states of a node. Only a node that is Up takes jobs.
const (
	Up      State = 0
	Down    State = 1 // it failed
	Offline State = 2 // taken out by hand
	Drained State = 3 // finishes what it runs, takes nothing new
)

var stateNames = [...]string{"up", "down", "offline", "drained"}

func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return fmt.Sprintf("state(%d)", s)
}

// ParseState reads a node state. Free, partly and busy mean up; so does later, which buckets
// use for free nodes on which something is planned.
func ParseState(s string) (State, error) {
	switch strings.ToLower(s) {
	case "", "up", "free", "idle", "later", "partly", "busy":
		return Up, nil
	case "down":
		return Down, nil
	case "offline":
		return Offline, nil
	case "drained", "drain":
		return Drained, nil
	}
	return 0, fmt.Errorf("no node state %q: use free, down, offline or drained", s)
}

// Class selects the bitmap of a bucket for a node that is up.
type Class uint8

// The classes; None is for nodes that are not up.
const (
	None Class = iota
	Free
	Later
	Busy
)

var classNames = [...]string{"none", "free", "later", "busy"}

func (c Class) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return ""
}

// Amount is a node's value of one resource.
type Amount struct {
	Res   ResID
	Value Value
}

// Node is the row of a node.
type Node struct {
	Number    uint32 // dense, in declared order, never reused
	Name      string
	Queue     string // the queue that owns it, or ""
	Priority  int32  // nodes with a higher one are used first
	State     State
	Reason    string  // why it is not up
	Bucket    uint32  // set by Index.Insert
	Speed     float64 // relative, 0 if it is not set
	ProcSpeed float64 // of one processor, 0 if it is not set
	Load      float64 // measured: how many processors are busy
	Usage     float64 // the part of the time that it was busy, 0 to 1
	Access    Access
	Sharing   Sharing
	Lessened  bool // it was reduced while something was on it, so more may be taken than it has
	PriorityF string
	Features  []string
	Res       []Amount // sorted by resource number

	Devices   []NamedDevices    // the devices of some of them, sorted by resource number
	Distances devices.Distances // of the groups of devices; nil if they are not known
}

// ValidSpeed reports whether v is a possible speed. 0, which means that none is set, is not.
func ValidSpeed(v float64) bool { return v > 0 && !math.IsInf(v, 1) }

// ValidLoad reports whether v is a possible load.
func ValidLoad(v float64) bool { return v >= 0 && !math.IsInf(v, 1) }

// ValidUsage reports whether v is a possible part of the time.
func ValidUsage(v float64) bool { return v >= 0 && v <= 1 }

// Get returns the node's value of a resource.
func (n *Node) Get(id ResID) (Value, bool) {
	i, ok := n.find(id)
	if !ok {
		return Value{}, false
	}
	return n.Res[i].Value, true
}

// Set gives the node a value of a resource.
func (n *Node) Set(id ResID, v Value) {
	i, ok := n.find(id)
	if ok {
		n.Res[i].Value = v
		return
	}
	n.Res = slices.Insert(n.Res, i, Amount{id, v})
}

// SetAmount gives the node a value of a resource, both written as people write them: "mem",
// "64gb". With an @ it names the devices of a countable resource, and their groups: "ngpus", "0-1@0+2-3@1". It fails,
// and changes nothing, if the resource is not defined or the text is not a value of it.
func (n *Node) SetAmount(defs *Defs, resource, text string) error {
	def, ok := defs.Lookup(resource)
	if !ok {
		return fmt.Errorf("no resource %q%s", resource, DidYouMean(resource, defs.Names()))
	}
	if devices.Named(text) && def.Type == Long && def.Consumable {
		set, err := devices.Parse(text)
		if err != nil {
			return fmt.Errorf("%s: %w", def.Name, err)
		}
		n.SetDevices(def.ID, set)
		return nil
	}
	v, err := def.ParseLoose(text)
	if err != nil {
		return fmt.Errorf("%s: %w", def.Name, err)
	}
	n.Count(def.ID, v)
	return nil
}

// Amount returns the node's value of a resource as people write it, or "" if it has none.
func (n *Node) Amount(defs *Defs, resource string) string {
	def, ok := defs.Lookup(resource)
	v, has := n.Get(def.ID)
	if !ok || !has {
		return ""
	}
	return def.Format(v)
}

// Unset removes a resource from the node, with its devices.
func (n *Node) Unset(id ResID) {
	n.SetDevices(id, nil)
	if i, ok := n.find(id); ok {
		n.Res = slices.Delete(n.Res, i, i+1)
	}
}

func (n *Node) find(id ResID) (int, bool) {
	return slices.BinarySearchFunc(n.Res, id, func(a Amount, id ResID) int { return int(a.Res) - int(id) })
}
