package kernel

import (
	"strconv"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
	"github.com/placectl/placectl/internal/row"
)

func itoa(n uint32) string { return strconv.FormatUint(uint64(n), 10) }

// NodeNumber finds a node's number by its name.
func (tx *Tx) NodeNumber(name string) (uint32, bool, error) {
	payload, err := tx.File.Get(row.NodeNames, []byte(name))
	if err != nil || payload == nil {
		return 0, false, err
	}
	number, err := row.DecodeNumber32(row.NodeNames, []byte(name), payload)
	return number, err == nil, err
}

// NodeByNumber finds a node by its number.
func (tx *Tx) NodeByNumber(number uint32) (*index.Node, error) {
	key := row.Key32(number)
	payload, err := tx.File.Get(row.Nodes, key)
	if err != nil {
		return nil, err
	}
	if payload == nil {
		return nil, row.Missing("node", "#"+itoa(number))
	}
	return row.DecodeNode(key, payload)
}

// EachNode calls fn for all nodes by number, until fn fails. Nodes that fn adds are not visited.
func (tx *Tx) EachNode(fn func(*index.Node) error) error {
	return tx.File.Each(row.Nodes, nil, func(key, payload []byte) (bool, error) {
		n, err := row.DecodeNode(key, payload)
		if err != nil {
			return false, err
		}
		return true, fn(n)
	})
}

func IdsOf(set devices.Set) []string {
	out := make([]string, len(set))
	for i := range set {
		out[i] = set[i].ID
	}
	return out
}
