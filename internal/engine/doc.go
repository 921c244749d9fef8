// Package engine is the handle on a database and its transaction, as package store and the command use
// them: a Tx has its methods by topic (Jobs, Nodes, Cycle and so on), each in a package of its own. They
// hand out rows as kernel has them; package store makes of them what programs see.
//
// The files here open, copy, repair and archive databases, keep them in logs, answer SQL, and give the
// types of the packages below their names.
//
// A []byte or a bitmap read in a transaction is valid only until it ends; the types that methods return
// are copies and stay valid. Instants are of type time.Time, in whole seconds; the zero time means none.
// The Plan and Ask of package placer are in Unix seconds.
package engine
