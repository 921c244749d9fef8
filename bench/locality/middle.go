package main

import (
	"fmt"
	"slices"
)

// middle is the median of some figures, with the least and the greatest.
func middle(list []float64) string {
	slices.Sort(list)
	return fmt.Sprintf("%.2f (%.2f..%.2f)", list[len(list)/2], list[0], list[len(list)-1])
}
