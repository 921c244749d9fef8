//go:build etcd

package etcd

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/placectl/placectl/store/internal/replica"
)

// A list of members may include a member of another etcd cluster, which has no such log, or an
// older one. Each answer names its cluster. Once a member has shown the log, only answers from
// its cluster count.

// stranger is the error that a member belongs to another etcd cluster than the log.
type stranger struct{ has, other uint64 }

func (s *stranger) Error() string {
	return fmt.Sprintf("this member is of another etcd (%x) than the one that has the database (%x): take it "+
		"off the list", s.other, s.has)
}

// same refuses answers from another etcd cluster.
func (g *gateway) same(cluster uint64) error {
	if has := g.cluster.Load(); has != 0 && cluster != 0 && has != cluster {
		return &stranger{has, cluster}
	}
	return nil
}

// clusterOf returns the etcd cluster that an answer comes from, or 0 if it does not say. The
// head of an answer comes first.
func clusterOf(answer []byte) (id uint64) {
	_, rest, is := bytes.Cut(answer[:min(len(answer), 200)], []byte(`"cluster_id":"`))
	if number, _, whole := bytes.Cut(rest, []byte(`"`)); is && whole {
		id, _ = strconv.ParseUint(string(number), 10, 64)
	}
	return id
}

// elsewhere looks for the log at every member after one did not have it. It returns nil if a
// member of another cluster has it; that cluster counts from then on. Otherwise it returns
// ErrNoLog, or an error that the list is wrong.
func (d *driver) elsewhere(ctx context.Context) error {
	if d.cluster.Load() != 0 {
		return replica.ErrNoLog
	}
	of := make(map[uint64]string)
	for m, name := range d.members {
		var a transactionAnswer
		if d.readFrom(ctx, m, transaction{Then: []operation{reading(ranged{Key: d.keys.meta()})}}, &a) != nil {
			continue
		}
		if a.ranges(0).value() != nil {
			d.cluster.Store(a.Header.Cluster)
			return nil
		}
		of[a.Header.Cluster] = name
	}
	if len(of) > 1 {
		return fmt.Errorf("%s are members of different clusters, and none has a database below %s: correct the "+
			"list of members", strings.Join(slices.Sorted(maps.Values(of)), " and "), d.keys)
	}
	return replica.ErrNoLog
}
