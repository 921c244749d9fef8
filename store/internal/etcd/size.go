//go:build etcd

package etcd

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/placectl/placectl/store/internal/replica"
)

// sizePage is the number of keys read at once to add up their lengths. Pieces are long.
const sizePage = 50

// defaultQuota is etcd's default for --quota-backend-bytes.
const defaultQuota = 2 << 30

// Size returns how much is below the prefix, and how much etcd stores and may store.
func (d *driver) Size(ctx context.Context) (s replica.Size, err error) {
	if s.Prefix, err = d.below(ctx); err != nil {
		return s, err
	}
	var status struct {
		Stored int64 `json:"dbSize,string"`
		Quota  int64 `json:"dbSizeQuota,string"` // since 3.6
	}
	if err := d.read(ctx, "/v3/maintenance/status", struct{}{}, &status); err != nil {
		return s, d.explain(err)
	}
	s.Stored, s.Quota = status.Stored, status.Quota
	if s.Quota == 0 {
		s.Quota = d.quota(ctx)
	}
	var alarms struct {
		Alarms []struct {
			Alarm string `json:"alarm"`
		} `json:"alarms"`
	}
	if err := d.read(ctx, "/v3/maintenance/alarm", map[string]string{"action": "GET"}, &alarms); err != nil {
		return s, d.explain(err)
	}
	for _, a := range alarms.Alarms {
		s.NoSpace = s.NoSpace || a.Alarm == "NOSPACE"
	}
	return s, nil
}

// below adds up the keys below the prefix and their values.
func (d *driver) below(ctx context.Context) (total int64, err error) {
	from, end := d.keys.all()
	for {
		var a rangedAnswer
		if err := d.read(ctx, "/v3/kv/range", ranged{Key: from, End: end, Limit: sizePage, Serializable: true},
			&a); err != nil {
			return 0, d.explain(err)
		}
		for _, p := range a.Pairs {
			total += int64(len(p.Key) + len(p.Value))
		}
		if !a.More || len(a.Pairs) == 0 {
			return total, nil
		}
		from = append(bytes.Clone(a.Pairs[len(a.Pairs)-1].Key), 0)
	}
}

// quota returns how much a member before 3.6 may store, from its metrics, or 0 if they do not
// tell.
func (d *driver) quota(ctx context.Context) int64 {
	text, err := d.exchange(ctx, http.MethodGet, d.members[int(d.best.Load())]+"/metrics", nil)
	if err != nil {
		return 0
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		if v, ok := strings.CutPrefix(lines.Text(), "etcd_server_quota_backend_bytes "); ok {
			if q, err := strconv.ParseFloat(v, 64); err == nil && q > 0 {
				return int64(q)
			}
			return defaultQuota
		}
	}
	return 0
}

// explain adds what to do about a refusal by etcd, if its own words do not say.
func (d *driver) explain(err error) error {
	r, ok := err.(*refusal) // a wrapped refusal was already explained
	if !ok {
		return err
	}
	switch {
	case strings.Contains(r.Message, "database space exceeded"):
		return fmt.Errorf("%w: etcd is out of space (alarm NOSPACE): nothing was changed; compact and defragment it, "+
			"then etcdctl alarm disarm; or raise --quota-backend-bytes", replica.ErrFull)
	case strings.Contains(r.Message, "too large"), strings.Contains(r.Message, "larger than max"),
		strings.Contains(r.Message, "too many operations"):
		return fmt.Errorf("%w: %s: the members run with a smaller --max-request-bytes or --max-txn-ops than etcd's own",
			replica.ErrFull, r.Message)
	case strings.Contains(r.Message, "user name is empty"):
		return fmt.Errorf("etcd wants a user: %s names a file with USER:PASSWORD", envAuth)
	case r.Code == codeForbidden:
		return fmt.Errorf("etcd does not let this user read or write below %s: %s", d.keys, r.Message)
	}
	return r
}
