package timeline_test

import (
	"errors"
	"fmt"
	"log"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/timeline"
)

// Of ten units, five are taken for some time, and then three. When is there room for six?
func ExamplePlanner() {
	plan, err := timeline.New(10, 0, 1000)
	if err != nil {
		log.Fatal(err)
	}
	for _, taken := range []timeline.Span{
		{Start: 0, Duration: 60, Amount: 5},
		{Start: 60, Duration: 40, Amount: 3},
	} {
		if _, err := plan.Add(taken); err != nil {
			log.Fatal(err)
		}
	}
	start, err := plan.EarliestStart(0, 30, 6)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("six units are free for 30 from", start)

	id, err := plan.Add(timeline.Span{Start: start, Duration: 30, Amount: 6})
	if err != nil {
		log.Fatal(err)
	}
	free, err := plan.FreeDuring(60, 40)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("then", free, "is left")
	_, err = plan.Add(timeline.Span{Start: 0, Duration: 70, Amount: 2})
	fmt.Println("two more:", err, errors.Is(err, timeline.ErrBusy))
	if err := plan.Remove(id); err != nil {
		log.Fatal(err)
	}
	// Output:
	// six units are free for 30 from 60
	// then 1 is left
	// two more: timeline: busy true
}

// A Calendar knows which units are free. Of ten, five are taken from 60 to 180.
func ExampleCalendar_Earliest() {
	calendar := timeline.NewCalendar(nil, 0, 0)
	for unit := range uint32(5) {
		if err := calendar.Add(unit, timeline.Busy{Start: 60, End: 180, Owner: 1}); err != nil {
			log.Fatal(err)
		}
	}
	ten := roaring.New()
	ten.AddRange(0, 10)
	for _, n := range []int{3, 8} {
		start, units, err := calendar.Earliest(ten, n, 60, 60)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(n, "for 60 from", start, "on", units.ToArray())
	}
	_, _, err := calendar.Earliest(ten, 11, 60, 60)
	fmt.Println(err, errors.Is(err, timeline.ErrNoFit))
	// Output:
	// 3 for 60 from 60 on [5 6 7]
	// 8 for 60 from 180 on [0 1 2 3 4 5 6 7]
	// timeline: no start fits: 11 nodes for 60 from 60 on true
}

// Requests that need several things at once ask a Multi.
func ExampleMulti() {
	plan, err := timeline.NewMulti([]timeline.Quantity{{Name: "cores", Total: 16}, {Name: "licences", Total: 2}}, 0,
		1000)
	if err != nil {
		log.Fatal(err)
	}
	for _, taken := range []timeline.MultiSpan{
		{Start: 0, Duration: 100, Amounts: []int64{12, 0}},
		{Start: 50, Duration: 100, Amounts: []int64{1, 2}},
	} {
		if _, err := plan.Add(taken); err != nil {
			log.Fatal(err)
		}
	}
	wish, err := plan.Vector(map[string]int64{"cores": 8, "licences": 1})
	if err != nil {
		log.Fatal(err)
	}
	for start := range plan.Starts(0, 20, wish) {
		fmt.Println("from", start)
	}
	// Output:
	// from 150
}
