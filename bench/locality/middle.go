package main

import (
	"fmt"
	"slices"
)

// middle formats the median of some figures, with the smallest and the largest.
func middle(list []float64) string {
	slices.Sort(list)
	return fmt.Sprintf("%.2f (%.2f..%.2f)", list[len(list)/2], list[0], list[len(list)-1])
}
