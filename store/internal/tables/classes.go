package tables

import (
	"github.com/placectl/placectl/placer/fairshare"
	"github.com/placectl/placectl/query"
)

// shareClass is a class, and its part of the plan of this instant.
type shareClass struct {
	fairshare.Class
	plan    fairshare.ClassPlan
	Default bool
}

func classesTable(c *Catalog, _ int64) (query.Table, error) {
	return &listTable[shareClass]{[]getter[shareClass]{
		textColumn("name", "what it is called", func(s *shareClass) string { return s.Name }),
		intColumn("load", "what it is meant to have, beside the loads of the others", func(s *shareClass) int64 { return int64(s.Load) }),
		intColumn("load_pct", "the same as a percentage of all", func(s *shareClass) int64 { return int64(s.plan.LoadPct) }),
		boolColumn("is_default", "who is mapped to no class is in it", func(s *shareClass) bool { return s.Default }),
		intColumn("entitlement", "its part of all there is, in the unit of share_unit", func(s *shareClass) int64 { return int64(s.plan.Entitlement) }),
		intColumn("running", "what its jobs have, likewise", func(s *shareClass) int64 { return int64(s.Running) }),
		intColumn("waiting", "what those that wait ask for", func(s *shareClass) int64 { return int64(s.Waiting) }),
		intColumn("loaned", "what it has beyond its entitlement", func(s *shareClass) int64 { return int64(s.plan.Loaned) }),
		intColumn("start", "what of it may start now", func(s *shareClass) int64 { return int64(s.plan.Start) }),
		intColumn("stop", "what of it is to stop now", func(s *shareClass) int64 { return int64(s.plan.Stop) }),
	}, func(add func(shareClass)) error {
		set, err := c.src.Shares()
		if err != nil || len(set.Loads) == 0 {
			return err
		}
		state, err := c.src.ShareState()
		if err != nil {
			return err
		}
		plan, err := new(fairshare.Planner).Plan(state)
		if err != nil {
			return err
		}
		for i, class := range state.Classes {
			add(shareClass{class, plan.Classes[i], class.Name == set.DefaultClass()})
		}
		return nil
	}}, nil
}

// classMapping is a rule by which requestors get a class.
type classMapping struct {
	position int
	fairshare.Mapping
}

func classMapTable(c *Catalog, _ int64) (query.Table, error) {
	return &listTable[classMapping]{[]getter[classMapping]{
		intColumn("position", "from 1 on: of several that match, the first counts", func(m *classMapping) int64 { return int64(m.position) }),
		textColumn("class", "which class", func(m *classMapping) string { return m.Class }),
		textColumn("regexp", "is looked for in the requestor, a job's user", func(m *classMapping) string { return m.Requestor }),
	}, func(add func(classMapping)) error {
		set, err := c.src.Shares()
		if err != nil {
			return err
		}
		for i, m := range set.Map {
			add(classMapping{i + 1, m})
		}
		return nil
	}}, nil
}
