package listing

import (
	"fmt"

	"github.com/placectl/placectl/internal/engine"
)

// explainRoute says why the job took its path, and where it was placed.
func explainRoute(tx *engine.Tx, job *engine.Job, met string) (string, error) {
	path, why, err := tx.Ask().Route(job.Request())
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf("%s path: %s", path, why)
	if job.Set != "" {
		text += "; kept to placement set " + job.Set
	}
	return text + met, nil
}

// chunkObject is a node's part of a chunk, as JSON shows it: count times the resources, including the
// one cpu that is taken if the request names none.
type chunkObject struct {
	Chunk     int                `json:"chunk"`
	Node      string             `json:"node"`
	Count     int                `json:"count"`
	Resources map[string]float64 `json:"resources"`
}

func chunkObjects(tx *engine.Tx, job *engine.Job) ([]chunkObject, error) {
	nodes, err := tx.Nodes().Names(job.NodeNumbers())
	if err != nil {
		return nil, err
	}
	defs, err := tx.Config().Resources()
	if err != nil {
		return nil, err
	}
	asked, err := tx.Jobs().Asked(job)
	if err != nil {
		return nil, err
	}
	var out []chunkObject
	for i, chunk := range job.Chunks {
		amounts := make(map[string]float64)
		for _, w := range asked[i].Wants {
			if def, ok := defs.Get(w.Res); ok && def.Consumable {
				amounts[def.Name] = def.Units(w.Value)
			}
		}
		for _, n := range chunk.Nodes {
			out = append(out, chunkObject{i, nodes[len(out)], n.Chunks, amounts})
		}
	}
	return out, nil
}
