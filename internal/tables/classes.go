package tables

import (
	"github.com/placectl/placectl/placer/fairshare"
	"github.com/placectl/placectl/query/tables"
)

// shareClass is a class, and its part of the present plan.
type shareClass struct {
	fairshare.Class
	plan    fairshare.ClassPlan
	Default bool
}

func classesTable(c *Catalog, _ int64) (tables.Table, error) {
	return &listTable[shareClass]{[]getter[shareClass]{
		textColumn("name", "name", func(s *shareClass) string { return s.Name }),
		intColumn("load", "its share, relative to the loads of other classes", func(s *shareClass) int64 {
			return int64(s.Load)
		}),
		intColumn("load_pct", "its share as a percentage", func(s *shareClass) int64 { return int64(s.plan.LoadPct) }),
		boolColumn("is_default", "jobs that match no rule are in it", func(s *shareClass) bool { return s.Default }),
		intColumn("entitlement", "its part of the cluster, in the unit of share_unit", func(s *shareClass) int64 {
			return int64(s.plan.Entitlement)
		}),
		intColumn("running", "amount its running jobs have", func(s *shareClass) int64 { return int64(s.Running) }),
		intColumn("waiting", "amount its waiting jobs ask for", func(s *shareClass) int64 { return int64(s.Waiting) }),
		intColumn("loaned", "amount beyond its entitlement", func(s *shareClass) int64 { return int64(s.plan.Loaned) }),
		intColumn("start", "amount that may start now", func(s *shareClass) int64 { return int64(s.plan.Start) }),
		intColumn("stop", "amount being stopped now", func(s *shareClass) int64 { return int64(s.plan.Stop) }),
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

// classMapping is a rule that puts requestors into a class.
type classMapping struct {
	position int
	fairshare.Mapping
}

func classMapTable(c *Catalog, _ int64) (tables.Table, error) {
	return &listTable[classMapping]{[]getter[classMapping]{
		intColumn("position", "position, from 1; the first match counts", func(m *classMapping) int64 {
			return int64(m.position)
		}),
		textColumn("class", "class", func(m *classMapping) string { return m.Class }),
		textColumn("regexp", "regular expression for a job's user", func(m *classMapping) string {
			return m.Requestor
		}),
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
