//go:build etcd

package etcd

import (
	"context"
	"errors"
	"fmt"
)

// grant makes a lease of this many seconds. A late copy of the request makes another lease,
// which is unused and expires.
func (d *driver) grant(ctx context.Context, seconds int64) (int64, error) {
	var out struct {
		ID int64 `json:"ID,string"`
	}
	in := map[string]any{"TTL": fmt.Sprint(seconds)}
	if err := d.read(ctx, "/v3/lease/grant", in, &out); err != nil {
		return 0, d.explain(err)
	}
	return out.ID, nil
}

// renew keeps a lease alive. alive is false if it has expired.
func (d *driver) renew(ctx context.Context, lease int64) (alive bool, err error) {
	var out struct {
		Result struct {
			TTL int64 `json:"TTL,string"`
		} `json:"result"`
	}
	if err := d.read(ctx, "/v3/lease/keepalive", map[string]any{"ID": fmt.Sprint(lease)}, &out); err != nil {
		return false, d.explain(err)
	}
	return out.Result.TTL > 0, nil
}

// revoke ends a lease, and deletes the keys bound to it.
func (d *driver) revoke(ctx context.Context, lease int64) error {
	err := d.read(ctx, "/v3/lease/revoke", map[string]any{"ID": fmt.Sprint(lease)}, nil)
	if r := new(refusal); errors.As(err, &r) && r.Code == codeNotFound {
		return nil
	}
	return d.explain(err)
}
