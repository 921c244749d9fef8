package listing

import (
	"math"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
)

// Node is a node and its allocations, as lists show it.
type Node struct {
	*index.Node
	engine.Occupancy
	Allocations []engine.Allocation // only for `node show`
	Devices     []engine.DeviceInfo
}

// NodeFields are the fields that every store has for a node. Their names are those of the nodes table
// of queries.
var NodeFields = output.Fields[*Node]{
	{Name: "name", Value: func(n *Node) any { return n.Name }},
	{Name: "number", Kind: output.Integer, Value: func(n *Node) any { return n.Number }},
	{Name: "queue", Value: func(n *Node) any { return output.OrNil(n.Queue) }},
	{Name: "priority", Kind: output.Integer, Value: func(n *Node) any { return n.Priority }},
	{Name: "state", Value: func(n *Node) any { return n.Occupancy.State.String() }},
	{Name: "reason", Value: func(n *Node) any { return output.OrNil(n.Reason) }},
	{Name: "speed", Kind: output.Number, Value: func(n *Node) any { return n.Speed }},
	{Name: "procspeed", Kind: output.Number, Value: func(n *Node) any { return n.ProcSpeed }},
	{Name: "load", Kind: output.Number, Value: func(n *Node) any { return n.Load }},
	{Name: "usage", Kind: output.Number, Value: func(n *Node) any { return n.Usage }},
	{Name: "access", Value: func(n *Node) any { return output.OrNil(accessWord(n.Access)) }},
	{Name: "sharing", Value: func(n *Node) any { return output.OrNil(sharingWord(n.Sharing)) }},
	{Name: "features", Kind: output.List, Value: func(n *Node) any { return n.Features }},
	{Name: "bucket", Kind: output.Integer, Value: func(n *Node) any { return n.Bucket }},
	{Name: "jobs", Kind: output.Integer, Value: func(n *Node) any { return n.Jobs }},
	{Name: "free_until", Kind: output.Time, Value: func(n *Node) any { return output.OrNil(n.FreeUntil) }},
	{Name: "priorityf", Value: func(n *Node) any { return output.OrNil(n.PriorityF) }},
}

// NodeListColumns names the columns of a list.
const NodeListColumns = "name number queue priority state reason speed procspeed load usage access sharing features " +
	"bucket jobs free_until"

// accessWord returns an access policy for lists, empty for the default.
func accessWord(a index.Access) string {
	if a == index.AccessShared {
		return ""
	}
	return a.String()
}

// sharingWord returns a sharing for lists, empty for the default.
func sharingWord(s index.Sharing) string {
	if s == index.DefaultShared {
		return ""
	}
	return s.String()
}

func resourceKind(t index.Type) output.Kind {
	switch t {
	case index.Long:
		return output.Integer
	case index.Size:
		return output.Size
	case index.Float:
		return output.Number
	case index.Boolean:
		return output.Boolean
	case index.StringArray:
		return output.List
	}
	return output.Text
}

// resourceValue returns a node's value of a resource for programs, nil if it has none.
func resourceValue(n *Node, def index.Def) any {
	v, ok := n.Get(def.ID)
	if !ok {
		return nil
	}
	return valueOf(v, def)
}

// valueOf returns a value of a resource for programs.
func valueOf(v index.Value, def index.Def) any {
	switch def.Type {
	case index.Long:
		return v.Num
	case index.Size:
		if v.Num > math.MaxInt64/1024 {
			return def.Units(v)
		}
		return v.Num * 1024
	case index.Float:
		return def.Units(v)
	case index.Boolean:
		return v.Num != 0
	case index.StringArray:
		return v.Members()
	}
	return v.Str
}

// freeValue returns how much of a resource jobs could get now.
func freeValue(n *Node, def index.Def) any {
	v := resourceValue(n, def)
	if v == nil || n.Occupancy.State == engine.NodeFree {
		return v
	}
	for _, a := range n.Left {
		if a.Res == def.ID {
			return valueOf(a.Value, def)
		}
	}
	return int64(0)
}
