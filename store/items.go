package store

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/placer/preempt"
	"github.com/placectl/placectl/placer/subject"
)

// Set makes or changes items. Running jobs go on; plans that an item breaks are made again. It needs the rights of an
// operator; a Role, and settings that decide what is executed, need those of the owner.
func (tx *Tx) Set(items ...Item) error {
	for _, item := range items {
		if err := tx.set(item); err != nil {
			return err
		}
	}
	return nil
}

func (tx *Tx) set(item Item) error {
	switch i := item.(type) {
	case Setting:
		return tx.tx.Config().Set(i.Name, i.Value)
	case Queue:
		return tx.setQueue(engine.Queue(i))
	case Limit:
		return tx.tx.Limits().Set(engine.Limit{Key: i.Key, Measure: i.Measure, Max: i.Max, Soft: i.Soft})
	case Pool:
		defs, err := tx.Resources()
		if err != nil {
			return err
		}
		_, known := defs.Pool(i.Name)
		return tx.tx.Pools().Set(engine.Pool(i), !known)
	case Account:
		a := engine.Account{Name: i.Name, Parent: i.Parent, Shares: i.Shares, Allow: i.Allow}
		for _, user := range slices.Sorted(maps.Keys(i.Members)) {
			a.Members = append(a.Members, engine.AccountMember{User: user, Shares: i.Members[user]})
		}
		return tx.tx.Accounts().Set(a)
	case Rule:
		return tx.setRule(i)
	case Role:
		return tx.tx.Roles().Add(i.User, i.Role)
	case Priority:
		of, err := i.subject()
		if err != nil {
			return err
		}
		return tx.tx.Priorities().Set(engine.Number{Subject: of, Number: i.Number})
	case View:
		return tx.tx.Views().Set(engine.SQLView(i))
	}
	return fmt.Errorf("%w: a %T is no Item", ErrInvalid, item)
}

func (tx *Tx) setQueue(q engine.Queue) error {
	if _, err := tx.tx.Queues().Get(q.Name); errors.Is(err, ErrNotFound) {
		return tx.tx.Queues().Add(q)
	}
	return tx.tx.Queues().Set(q)
}

func (tx *Tx) setRule(i Rule) error {
	r, err := preempt.Parse(i.Text)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if i.How != "" {
		if r.How, err = preempt.ParseHow(i.How); err != nil {
			return fmt.Errorf("%w: %w", ErrInvalid, err)
		}
	}
	if r.Grace = int64(i.Grace / time.Second); i.Grace < 0 {
		r.Grace = preempt.OwnGrace
	}
	return tx.tx.Preemption().Set(r)
}

// subject returns whose number it is.
func (p Priority) subject() (subject.Subject, error) {
	for _, kind := range subject.All {
		if kind.String() == p.Kind && kind != subject.Job {
			return subject.Subject{Kind: kind, Name: p.Name}, nil
		}
	}
	return subject.Subject{}, fmt.Errorf("%w kind %q: it is user, group, account, class or queue", ErrInvalid, p.Kind)
}

// Items returns the items that are declared, but for settings: kind by kind, each by name. Only SQL says how much of a
// Limit or Pool is used.
func (tx *Tx) Items() (list []Item, err error) {
	queues, err := tx.tx.Queues().All()
	for _, q := range queues {
		list = append(list, Queue(q))
	}
	steps := []func() error{
		func() error { return err },
		func() error {
			return tx.tx.Limits().Each(func(l engine.Limit) error {
				list = append(list, Limit{l.Key, l.Measure, l.Max, l.Soft})
				return nil
			})
		},
		func() error {
			pools, err := tx.tx.Pools().At(tx.Now())
			for _, p := range pools {
				list = append(list, Pool(p.Pool))
			}
			return err
		},
		func() error {
			return tx.tx.Accounts().Each(func(a engine.Account) error {
				members := make(map[string]int64, len(a.Members))
				for _, m := range a.Members {
					members[m.User] = m.Shares
				}
				list = append(list, Account{a.Name, a.Parent, a.Shares, members, a.Allow})
				return nil
			})
		},
		func() error {
			return tx.tx.Preemption().Each(func(r *preempt.Rule) error {
				grace := time.Duration(r.Grace) * time.Second
				list = append(list, Rule{r.String(), r.How.String(), grace})
				return nil
			})
		},
		func() error {
			return tx.tx.Roles().Each(func(user, role string) error {
				list = append(list, Role{user, role})
				return nil
			})
		},
		func() error {
			return tx.tx.Priorities().Each(func(n engine.Number) error {
				list = append(list, Priority{n.Kind.String(), n.Name, n.Number})
				return nil
			})
		},
		func() error {
			return tx.tx.Views().Each(func(v engine.SQLView) error {
				list = append(list, View(v))
				return nil
			})
		},
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// Remove deletes items, identified by the fields that name them; of a Limit those are Key, Measure and Soft, and
// without a Measure all of the Key. A Setting gets its default. It fails with a Conflict if
// something needs an item, and with ErrNotFound if there is none. The rights are those of Set.
func (tx *Tx) Remove(items ...Item) error {
	for _, item := range items {
		if err := tx.remove(item); err != nil {
			return err
		}
	}
	return nil
}

func (tx *Tx) remove(item Item) error {
	switch i := item.(type) {
	case Setting:
		return tx.tx.Config().Set(i.Name, "")
	case Queue:
		return tx.tx.Queues().Remove(i.Name)
	case Limit:
		var measures []string
		if i.Measure != "" {
			measures = []string{i.Measure}
		}
		_, err := tx.tx.Limits().Remove(i.Key, i.Soft, measures...)
		return err
	case Pool:
		return tx.tx.Pools().Remove(i.Name)
	case Account:
		return tx.tx.Accounts().Remove(i.Name)
	case Rule:
		return tx.tx.Preemption().Remove(i.Text)
	case Role:
		return tx.tx.Roles().Remove(i.User)
	case Priority:
		i.Number = 0
		return tx.set(i)
	case View:
		return tx.tx.Views().Remove(i.Name)
	}
	return fmt.Errorf("%w: a %T is no Item", ErrInvalid, item)
}
