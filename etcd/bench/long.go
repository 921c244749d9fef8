package main

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	_ "github.com/placectl/placectl/etcd" // databases named etcd://
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/placer"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// open opens a database in etcd, whose driver package etcd is.
func open(db database) (*engine.DB, error) {
	return engine.Open(db.name, &engine.Options{Replica: engine.ReplicaOptions{Folder: db.replicas, Version: "bench",
		Verb: "bench"}})
}

// one makes one small change in a transaction.
func one(tx *engine.Tx) error {
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
	err = db.Update(func(tx *engine.Tx) error {
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
	var dbs []*engine.DB
	for i := range clients { // each has an up-to-date replica before the clock runs
		db, err := open(b.machine(log.name, i+1))
		if err != nil {
			return 0, 0, err
		}
		defer db.Close()
		if err := db.View(func(*engine.Tx) error { return nil }); err != nil {
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

// puts returns how many keys etcd accepts in a second from some clients. A majority syncs each key, so this is the
// best possible rate on this machine.
func (b *bench) puts(clients int) (float64, error) {
	hosts := strings.Split(strings.TrimSuffix(strings.TrimPrefix(b.hosts, "etcd://"), "/"), ",")
	ctx, cancel := context.WithTimeout(context.Background(), b.during)
	defer cancel()
	var done atomic.Int64
	var failed atomic.Value
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			c, err := clientv3.New(clientv3.Config{Endpoints: hosts, Logger: zap.NewNop()})
			if err != nil {
				failed.Store(err)
				return
			}
			defer c.Close()
			for {
				_, err := c.Put(ctx, "bench", "bench")
				if ctx.Err() != nil {
					return
				}
				if err != nil {
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
