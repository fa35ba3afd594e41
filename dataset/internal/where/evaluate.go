package where

import (
	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/dataset/internal/column"
	"halfspace/internal/message"
	"halfspace/schema"
)

// A Match says in how many rows of some rows a condition is true.
type Match uint8

// And has the least Match of its parts, or the greatest one. That is exact for one row, which has None or All. For
// several rows Some may stand for None or All.
const (
	None Match = iota // in no row
	Some              // perhaps in some rows
	All               // in each row
)

// orders is a set of the orders that values have against a literal. A row has one of them, an interval of values may
// have several.
type orders uint8

const (
	below   orders = 1 << iota // a value is less than the literal
	equal                      // a value is equal to the literal, or like the pattern
	above                      // a value is greater than the literal
	missing                    // a value is missing

	anyValue = below | equal | above
)

// match returns the Match of a comparison that is true for some orders, in rows that have the orders of the set.
func (set orders) match(holds orders) Match {
	switch {
	case set&holds == 0:
		return None
	case set&^holds == 0:
		return All
	}
	return Some
}

// between returns the orders of the values from a least one to a greatest one, whose orders are single.
func between(least, greatest orders) orders {
	if least > greatest {
		return anyValue
	}
	return 2*greatest - least
}

// match returns the Match of each element, for which setsOf returns the orders of the values against the literal of a
// comparison.
func (n *node) match(setsOf func(*comparison) ([]orders, error)) ([]Match, error) {
	if n.parts == nil {
		sets, err := setsOf(&n.comparison)
		if err != nil {
			return nil, err
		}
		matches := make([]Match, len(sets))
		for i, set := range sets {
			matches[i] = set.match(n.holds)
		}
		return matches, nil
	}
	all, err := n.parts[0].match(setsOf)
	for _, part := range n.parts[1:] {
		if err != nil {
			break
		}
		var more []Match
		more, err = part.match(setsOf)
		for i, m := range more {
			if n.all {
				all[i] = min(all[i], m)
			} else {
				all[i] = max(all[i], m)
			}
		}
	}
	return all, err
}

// Values are the values of a column in some rows.
type Values struct {
	Array  arrow.Array
	Digits arrow.Array // as column.Batch.Digits; nil: none
}

// Rows returns for each row whether the condition is true in it, None or All. columns has an element for each of
// Columns.
func (c *Condition) Rows(columns []Values) ([]Match, error) {
	return c.root.match(func(k *comparison) ([]orders, error) {
		sets, err := k.rows(columns[k.column], c.forms[k.column])
		if err != nil {
			err = message.Errorf("--where: column %q: %w", c.columns[k.column], err)
		}
		return sets, err
	})
}

// Within returns the Match of a number of rows whose values lie within bounds. bounds has an element for each of
// Columns. Within returns an error if reading these rows may return one.
func (c *Condition) Within(rows int64, bounds []column.Bounds) (Match, error) {
	matches, err := c.root.match(func(k *comparison) ([]orders, error) {
		set, err := k.within(rows, bounds[k.column], c.forms[k.column])
		return []orders{set}, err
	})
	if err != nil {
		return Some, err
	}
	return matches[0], nil
}

// rows returns the orders of the values of a column, one for each row.
func (c *comparison) rows(v Values, form *schema.Column) (sets []orders, err error) {
	switch {
	case c.null:
		sets = make([]orders, v.Array.Len())
		fill(sets, equal)
	case v.Digits != nil && c.value.kind == schema.Number:
		sets = c.ordersOfDigits(v.Digits)
	default:
		if sets, err = c.ordersOf(v.Array, form); err != nil {
			return nil, err
		}
	}
	if v.Array.NullN() > 0 {
		for i := range sets {
			if v.Array.IsNull(i) {
				sets[i] = missing
			}
		}
	}
	return sets, nil
}

// within returns the orders that the values within bounds may have.
func (c *comparison) within(rows int64, b column.Bounds, form *schema.Column) (set orders, err error) {
	if b.Nulls != 0 {
		set = missing
	}
	switch {
	case b.Nulls == rows && b.Ends == nil:
		return set, nil
	case c.null || b.Ends == nil || c.like != nil || form != nil:
		return set | anyValue, nil
	}
	ends, err := c.ordersOf(b.Ends, nil)
	if err != nil {
		return 0, err
	}
	set |= between(ends[0], ends[1])
	if id := b.Ends.DataType().ID(); id == arrow.FLOAT16 || id == arrow.FLOAT32 || id == arrow.FLOAT64 {
		set |= above // of NaN, which bounds leave out
	}
	return set, nil
}

func fill(sets []orders, set orders) {
	for i := range sets {
		sets[i] = set
	}
}
