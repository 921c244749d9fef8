package slurm

import "github.com/placectl/placectl/index"

// expand reads a list of nodes; nil for none.
func expand(list string) ([]string, error) {
	if list == "" {
		return nil, nil
	}
	return index.ExpandNodeList(list)
}
