package placer_test

import (
	"fmt"
	"log"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
)

// A request is read with the resources that there are.
func ExampleParse() {
	defs := index.NewDefs()
	spec, err := placer.Parse(defs, placer.Request{Select: "2:ncpus=4:mem=8gb+1:ngpus=1", Place: "scatter",
		Walltime: time.Hour})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(spec.NumChunks(), "chunks:", spec.Select(defs))
	_, err = placer.Parse(defs, placer.Request{Select: "2:ncpu=4"})
	fmt.Println(err)
	// Output:
	// 3 chunks: 2:ncpus=4:mem=8gb+1:ngpus=1:ncpus=1
	// select "2:ncpu=4": at character 3: no resource "ncpu"; did you mean ncpus?
}
