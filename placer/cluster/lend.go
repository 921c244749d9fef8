package cluster

import (
	"fmt"

	"github.com/placectl/placectl/index"
)

// rows gives placer what is known about nodes.
type rows struct{ *Cluster }

// Node implements placer.Rows, as do the other methods.
func (r rows) Node(number uint32) (*index.Node, error) { return r.nodes[number], nil }

func (r rows) Traits(number uint32, n *index.Node) error {
	res, features := n.Res, n.Features
	*n = *r.nodes[number]
	n.Name = ""
	n.Res, n.Features = append(res[:0], n.Res...), append(features[:0], n.Features...)
	return nil
}

func (r rows) NodeNumber(name string) (uint32, bool, error) {
	number, ok := r.names[name]
	return number, ok, nil
}

func (r rows) User(owner uint64) (string, error) {
	if p := r.placed[owner]; p != nil {
		return p.User, nil
	}
	return "", fmt.Errorf("cluster: owner %d has no placement", owner)
}
