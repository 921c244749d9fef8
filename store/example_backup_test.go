package store_test

import (
	"bytes"
	"fmt"
	"log"
	"path/filepath"

	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store"
)

// A backup is made while others use the database. When it is put back, jobs that waited
// are held: they may have run since.
func ExampleRestore() {
	db, done := exampleDB()
	defer done()
	err := db.Update(func(tx *store.Tx) error {
		_, err := tx.Jobs().Submit(store.Submission{Request: placer.Request{Select: "1:ncpus=8"}})
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	backup := filepath.Join(filepath.Dir(db.Path()), "backup.db")
	content, err := db.Backup(backup, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(content.Nodes, "nodes,", content.Jobs, "job")

	restored, err := store.Restore(db.Path(), backup, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("held:", restored.Held)
	fmt.Println("what was there is kept as", filepath.Base(restored.Kept))
	// Output:
	// 4 nodes, 1 job
	// held: [1]
	// what was there is kept as cluster.db.replaced-1
}

// A dump is lines of JSON from which any later version makes the same database.
func ExampleLoad() {
	db, done := exampleDB()
	defer done()
	var dump bytes.Buffer
	if _, err := db.Dump(&dump, nil); err != nil {
		log.Fatal(err)
	}
	lines := bytes.SplitAfter(dump.Bytes(), []byte("\n"))
	fmt.Printf("%s", lines[3])

	copied := filepath.Join(filepath.Dir(db.Path()), "copy.db")
	content, err := store.Load(copied, &dump, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(content.Nodes, "nodes")
	// Output:
	// {"table":"nodes","key":0,"row":{"name":"n1","res":[{"value":{"num":8}},{"res":2,"value":{"num":67108864}}]}}
	// 4 nodes
}
