// Functions of gate.go are linked to those of package runtime; the compiler wants this file for
// functions without a body.
