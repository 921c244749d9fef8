// Package docs holds the pages that the command prints. It is here because go:embed does not reach upwards.
package docs

import _ "embed"

// Pages by the word that names them: Markdown, as in the repository.
var (
	//go:embed sql.md
	sql string
	//go:embed sql-tables.md
	tables string
	//go:embed policies.md
	policies string

	Pages = map[string]string{"sql": sql, "tables": tables, "policies": policies}
)
