//go:build etcd

package main

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store"
)

func open(db database) (*store.DB, error) {
	return store.Open(db.name, &store.Options{Replica: store.ReplicaOptions{Folder: db.replicas, Version: "bench", Verb: "bench"}})
}

// one is a transaction with one small change.
func one(tx *store.Tx) error {
	_, err := tx.Place(placer.Request{Select: "1", Walltime: time.Hour})
	return err
}

// write puts so many entries into a log, from one process.
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
	return db.Log().Keep(1) // as the command does behind its answer
}

// long is a transaction that takes a second beside three machines that write all the time.
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
				_ = db.Update(one) // it is there to be in the way
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
