// Package dates counts instants on the calendar as SQLite's date functions do.
package dates
