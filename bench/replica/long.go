//go:build etcd

package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store"
)

func open(db database) (*store.DB, error) {
	return store.Open(db.name, &store.Options{Replica: store.ReplicaOptions{Folder: db.replicas, Version: "bench",
		Verb: "bench"}})
}

// one makes one small change in a transaction.
func one(tx *store.Tx) error {
	_, err := tx.Jobs().Place(placer.Request{Select: "1", Walltime: time.Hour})
	return err
}

// write puts entries into a log from one process.
func write(to database, entries int) error {
	db, err := open(to)
	if err != nil {
		return err
	}
	defer db.Close()
	for range entries {
		if err := db.Update(one); err != nil {
			return err
		}
	}
	return db.Log().Keep(1) // as the command does after its answer
}

// long measures a transaction that takes a second while three machines write all the time.
func (b *bench) long(log database) (runs int, took time.Duration, err error) {
	var all sync.WaitGroup
	var stop atomic.Bool
	defer func() { stop.Store(true); all.Wait() }()
	for i := range 3 {
		db, err := open(b.machine(log.name, i+1))
		if err != nil {
			return 0, 0, err
		}
		defer db.Close()
		all.Go(func() {
			for !stop.Load() {
				_ = db.Update(one) // it only has to be in the way
			}
		})
	}
	db, err := open(b.machine(log.name, 4))
	if err != nil {
		return 0, 0, err
	}
	defer db.Close()
	began := time.Now()
	err = db.Update(func(tx *store.Tx) error {
		runs++
		time.Sleep(time.Second)
		return one(tx)
	})
	return runs, time.Since(began), err
}

// handles measures several machines that place at once, each through a handle of its own that stays open.
// So it measures the log without the start of processes.
func (b *bench) handles(log database, clients int) (done int, worst time.Duration, err error) {
	var mu sync.Mutex
	var all sync.WaitGroup
	defer all.Wait()
	var dbs []*store.DB
	for i := range clients { // each has an up-to-date replica before the clock runs
		db, err := open(b.machine(log.name, i+1))
		if err != nil {
			return 0, 0, err
		}
		defer db.Close()
		if err := db.View(func(*store.Tx) error { return nil }); err != nil {
			return 0, 0, err
		}
		dbs = append(dbs, db)
	}
	until := time.Now().Add(b.during)
	for _, db := range dbs {
		all.Go(func() {
			for time.Now().Before(until) {
				began := time.Now()
				failed := db.Update(one)
				mu.Lock()
				if failed != nil {
					err = failed
				}
				done, worst = done+1, max(worst, time.Since(began))
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return done, worst, err
}

// puts returns how many keys a second etcd accepts through its gateway from some clients. A majority
// syncs each key, so this is the best possible rate on this machine.
func (b *bench) puts(clients int) (float64, error) {
	var done atomic.Int64
	var failed atomic.Value
	var all sync.WaitGroup
	hosts := strings.Split(strings.TrimSuffix(strings.TrimPrefix(b.hosts, "etcd://"), "/"), ",")
	until := time.Now().Add(b.during)
	for i := range clients {
		all.Go(func() {
			conn, err := net.Dial("tcp", hosts[i%len(hosts)])
			if err != nil {
				failed.Store(err)
				return
			}
			defer conn.Close()
			answers := textproto.NewReader(bufio.NewReader(conn))
			for time.Now().Before(until) {
				if err := put(conn, answers); err != nil {
					failed.Store(err)
					return
				}
				done.Add(1)
			}
		})
	}
	all.Wait()
	err, _ := failed.Load().(error)
	return float64(done.Load()) / b.during.Seconds(), err
}

// put puts a key through the gateway, without net/http, which only the driver may import.
func put(conn net.Conn, answers *textproto.Reader) error {
	const body = `{"key":"YmVuY2g=","value":"YmVuY2g="}`
	if _, err := fmt.Fprintf(conn, "POST /v3/kv/put HTTP/1.1\r\nHost: etcd\r\nContent-Length: %d\r\n\r\n%s", len(body),
		body); err != nil {
		return err
	}
	status, err := answers.ReadLine()
	if err != nil {
		return err
	}
	if !strings.Contains(status, " 200 ") {
		return fmt.Errorf("a put: %s", status)
	}
	head, err := answers.ReadMIMEHeader()
	if err != nil {
		return err
	}
	length, err := strconv.ParseInt(head.Get("Content-Length"), 10, 64)
	if err != nil {
		return fmt.Errorf("a put: how long its answer is: %w", err)
	}
	_, err = io.CopyN(io.Discard, answers.R, length)
	return err
}
