// Package functions holds the functions of SQL: those of one row (scalars.go), those of many
// (aggregates.go), and generate_series. They know values, and the budget of the run that calls
// them; nothing of plans and tables.
package functions
