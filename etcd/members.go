package etcd

import (
	"bufio"
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/placectl/placectl/internal/replica"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

const (
	clocksAsked  = 3
	clockTimeout = time.Second
	// dateUnit is the unit to which a Date is rounded down. On average, adding half of it is right.
	dateUnit = time.Second
	// defaultQuota is etcd's default for --quota-backend-bytes.
	defaultQuota = 2 << 30
)

// Members asks etcd how much it stores and may store, and the members what time it is, see replica.Driver.
func (d *driver) Members(ctx context.Context) (m replica.Members, err error) {
	if err := d.known(ctx); err != nil {
		return m, err
	}
	asked := make(chan struct{})
	go func() { m.Ahead, m.ClockKnown = d.clock(ctx); close(asked) }()
	next := 0
	err = d.read(ctx, func(ctx context.Context, c *clientv3.Client) error {
		list := c.Endpoints()
		member := list[next%len(list)]
		next++
		r, err := c.Status(ctx, member)
		if err == nil {
			err = d.same(r.Header.ClusterId)
		}
		if err != nil {
			return err
		}
		alarms, err := c.AlarmList(ctx)
		if err == nil && alarms.Header != nil { // 3.4 sends none
			err = d.same(alarms.Header.ClusterId)
		}
		if err != nil {
			return err
		}
		for _, a := range alarms.Alarms {
			m.NoSpace = m.NoSpace || a.Alarm == etcdserverpb.AlarmType_NOSPACE
		}
		if m.Stored, m.Quota = r.DbSize, r.DbSizeQuota; m.Quota == 0 { // before 3.6
			m.Quota = d.quota(ctx, member)
		}
		return nil
	})
	<-asked
	return m, err
}

// clock returns how far this machine's clock is ahead of the median of up to three members'. It is accurate to
// about a second, because answers have the time in whole seconds.
func (d *driver) clock(ctx context.Context) (ahead time.Duration, known bool) {
	ctx, cancel := context.WithTimeout(ctx, clockTimeout)
	defer cancel()
	n := min(len(d.config.Endpoints), clocksAsked)
	came := make(chan *time.Duration, n)
	for _, member := range d.config.Endpoints[:n] {
		go func() {
			sent := time.Now()
			res, err := d.fetch(ctx, member+"/version")
			if err != nil {
				came <- nil
				return
			}
			ours := sent.Add(time.Since(sent) / 2).Round(0) // by the wall clock
			res.Body.Close()
			date, err := http.ParseTime(res.Header.Get("Date"))
			if err != nil {
				came <- nil
				return
			}
			ahead := ours.Sub(date.Add(dateUnit / 2))
			came <- &ahead
		}()
	}
	var all []time.Duration
	for range n {
		if ahead := <-came; ahead != nil {
			all = append(all, *ahead)
		}
	}
	if len(all) == 0 {
		return 0, false
	}
	slices.Sort(all)
	return all[(len(all)-1)/2], true
}

// quota returns how much a member before 3.6 may store, from its metrics, or 0 if they do not tell.
func (d *driver) quota(ctx context.Context, member string) int64 {
	res, err := d.fetch(ctx, member+"/metrics")
	if err != nil {
		return 0
	}
	defer res.Body.Close()
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		if v, ok := strings.CutPrefix(lines.Text(), "etcd_server_quota_backend_bytes "); ok {
			if q, err := strconv.ParseFloat(v, 64); err == nil && q > 0 {
				return int64(q)
			}
			return defaultQuota
		}
	}
	return 0
}

// fetch asks a member over plain HTTP for what etcd's API does not tell.
func (d *driver) fetch(ctx context.Context, url string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	t := &http.Transport{TLSClientConfig: d.config.TLS, DisableKeepAlives: true}
	return t.RoundTrip(req)
}
