package index

import (
	"fmt"
	"slices"
	"strings"
)

// State is what an administrator, or a health check, says of a node. The
// numbers are on disk and must not change.
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

// ParseState reads a node state; free, later and busy are ways of being up.
func ParseState(s string) (State, error) {
	switch strings.ToLower(s) {
	case "", "up", "free", "idle", "later", "busy":
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

// Class is which of its bucket's bitmaps a node that is up belongs to.
type Class uint8

// The classes; None is for nodes that are not up.
const (
	None Class = iota
	Free
	Later
	Busy
)

var classNames = [...]string{"none", "free", "later", "busy"}

func (c Class) String() string { return classNames[c] }

// Amount is a node's value of one resource.
type Amount struct {
	Res   ResID
	Value Value
}

// Node is a node's row.
type Node struct {
	Number    uint32 // dense, in declared order, never reused
	Name      string
	Queue     string // the queue that owns it, "" for none
	Priority  int32  // higher is placed on first
	State     State
	Reason    string // why it is not up
	Bucket    uint32 // set by Index.Insert
	Speed     float64
	ProcSpeed float64
	Load      float64
	Usage     float64
	Access    string
	PriorityF string
	Features  []string
	Res       []Amount // sorted by resource number
}

// Get finds the node's value of a resource.
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

// Unset takes a resource away from the node.
func (n *Node) Unset(id ResID) {
	if i, ok := n.find(id); ok {
		n.Res = slices.Delete(n.Res, i, i+1)
	}
}

func (n *Node) find(id ResID) (int, bool) {
	return slices.BinarySearchFunc(n.Res, id, func(a Amount, id ResID) int { return int(a.Res) - int(id) })
}
