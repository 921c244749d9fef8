// Package functions holds the functions of SQL: scalar functions (scalars.go), aggregates
// (aggregates.go), and generate_series. They know values and the budget of the run that calls them, but
// no plans and tables.
package functions
