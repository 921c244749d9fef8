// Package dates computes with instants on the calendar as SQLite's date functions do.
package dates
