// Package nodes holds what a transaction knows of nodes.
//
// It reads the rows of nodes, each once in a transaction and only the parts that are needed (rows.go). It validates
// rows, and chooses which of a node's devices a job gets.
//
// The tables that follow from other rows are read and changed by one transaction (derived.go): the node index and
// the calendar, what is left of shared nodes, when nodes are expected to be released, and where nodes were freed.
// Each reads what it is asked for, and Flush writes the changes back. Package check makes the same tables from the
// rows alone.
//
// Facts about the hosts that execute attempts are the last heartbeat of each user's processes there, and the jobs
// that nodes have refused since they last executed one (hosts.go). Package jobs decides what follows for jobs and
// nodes.
//
// The past of nodes (log.go): each commit that changes nodes writes small rows with their former properties
// (row.NodePast), one for all nodes with the same change. Going back from the present nodes, the newest change
// first, gives the nodes at any instant since row.State.NodesSince.
package nodes
