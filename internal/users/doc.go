// Package users decides who may do what (roles.go), and stores how a cluster is shared: accounts, roles, preemption
// rules, and numbers for priorities. It validates them and reads them back. But for the roles of a transaction it
// works on rows.
package users
