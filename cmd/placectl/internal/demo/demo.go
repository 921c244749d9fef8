// Package demo shows newcomers a real cluster with six days of its recorded jobs, as placectl scheduled
// them. It is a dump, moved in time so that the last day ends now. replay_test.go makes the dump again
// from the record in the folder data.
package demo

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
)

//go:embed data/demo.jsonl.gz
var dump []byte

// The six days of the record, in Unix seconds. They end on an afternoon in Brno when nearly everything
// was taken.
const (
	recordedFrom  = 1360332000 // 2013-02-08 15:00
	recordedUntil = 1360850400 // 2013-02-14 15:00
)

// Lasts is how long the demo lasts.
const Lasts = (recordedUntil - recordedFrom) * time.Second

// sameID is the dump's identity. Each demo gets its own instead.
var sameID = strings.Repeat("0", 32)

// Load makes the database as of an instant. It fails as engine.Load does.
func Load(path string, now time.Time, opt *engine.LoadOptions) error {
	packed, err := gzip.NewReader(bytes.NewReader(dump))
	if err != nil {
		return err
	}
	text, err := io.ReadAll(packed)
	if err != nil {
		return err
	}
	var id [16]byte
	rand.Read(id[:]) //nolint:errcheck // it never fails
	text = bytes.Replace(text, []byte(sameID), []byte(hex.EncodeToString(id[:])), 1)
	opt.Moved = time.Duration(now.Unix()-recordedUntil) * time.Second
	if _, err = engine.Load(path, bytes.NewReader(text), opt); err != nil || opt.DryRun || engine.IsLog(path) {
		return err
	}
	return adopt(path, &opt.Options)
}

// adopt makes the file a database of its own: its id was drawn anew, so that it is a copy of none. It plays the
// queue, whose forecasts no dump has, so that lists say when those who wait will start.
func adopt(path string, opt *engine.Options) error {
	quiet := *opt
	quiet.Warn = nil
	db, err := engine.Open(path, &quiet)
	if err != nil {
		return err
	}
	err = db.Update(func(tx *engine.Tx) error { _, err := tx.Adopt(true); return err })
	if err == nil {
		err = db.Forecast(engine.ForecastSpec{})
	}
	return errors.Join(err, db.Close())
}

// kinds are the names of the cluster's nodes, with their numbers.
var kinds = []struct {
	name  string
	count int
}{{"zewura", 20}, {"zegox", 48}}

// Made reports whether a database has the demo's nodes, so that an earlier demo has made it.
func Made(tx *engine.Tx) (bool, error) {
	var want, names []string
	for _, k := range kinds {
		for i := range k.count {
			want = append(want, fmt.Sprint(k.name, i+1))
		}
	}
	err := tx.Nodes().Each(func(n *index.Node) error { names = append(names, n.Name); return nil })
	return slices.Equal(want, names), err
}
