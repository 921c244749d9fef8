package index_test

import (
	"fmt"
	"log"

	"github.com/placectl/placectl/index"
)

// Nodes that offer the same are one bucket. What a chunk demands is looked up by bucket, so that the
// cost depends on the kinds of nodes, not on their number.
func Example() {
	defs := index.NewDefs()
	ix := index.New(defs, defs.DefaultSignature(), nil, index.Limits{})
	for i := range uint32(1000) {
		node := &index.Node{Number: i, Name: fmt.Sprintf("n%03d", i)}
		ncpus := "8"
		if i%10 == 0 {
			ncpus = "64"
		}
		if err := node.SetAmount(defs, "ncpus", ncpus); err != nil {
			log.Fatal(err)
		}
		ix.Insert(node, index.Free)
	}
	for _, b := range ix.Buckets() {
		fmt.Println(ix.Describe(b), "has", b.Total, "nodes")
	}
	for _, c := range ix.Candidates("", []index.Demand{{Res: index.NCPUs, Value: index.Value{Num: 16}}}) {
		fmt.Println(ix.Describe(c.Bucket), "has", ix.Nodes(c.Bucket, index.Free).GetCardinality(),
			"free nodes for 16 cpus")
	}
	// Output:
	// ncpus=64 has 100 nodes
	// ncpus=8 has 900 nodes
	// ncpus=64 has 100 free nodes for 16 cpus
}

// Lists of nodes are folded for people.
func ExampleFoldNodeList() {
	fmt.Println(index.FoldNodeList([]string{"n01", "n02", "n03", "n07", "gpu1"}))
	names, err := index.ExpandNodeList("n[01-03,07],gpu1")
	fmt.Println(names, err)
	// Output:
	// n[01-03,07],gpu1
	// [n01 n02 n03 n07 gpu1] <nil>
}

// Amounts are read and written as people write them. A number of GPUs names them, so that each job gets some of
// its own.
func ExampleNode_SetAmount() {
	defs := index.NewDefs()
	node := &index.Node{Name: "g1"}
	for _, a := range [][2]string{{"ncpus", "32"}, {"mem", "1536gb"}, {"ngpus", "4"}} {
		if err := node.SetAmount(defs, a[0], a[1]); err != nil {
			log.Fatal(err)
		}
		fmt.Println(a[0], "is", node.Amount(defs, a[0]))
	}
	fmt.Println("GPUs:", node.DevicesOf(index.NGPUs))
	// Output:
	// ncpus is 32
	// mem is 1536gb
	// ngpus is 4
	// GPUs: 0-3@0
}
