package transform

import (
	"math"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/dataset/internal/column"
	"halfspace/internal/humanize"
	"halfspace/schema"
)

// truths is a set of truths: bit t stands for truth t.
type truths uint8

const anyTruth truths = 1<<no | 1<<unknown | 1<<yes

// combined returns the truths of op of two truths, one of each set.
func combined(a, b truths, op func(x, y truth) truth) (all truths) {
	for x := no; x <= yes; x++ {
		for y := no; y <= yes; y++ {
			if a>>x&1 != 0 && b>>y&1 != 0 {
				all |= 1 << op(x, y)
			}
		}
	}
	return all
}

// never is column.Chosen.Never: it returns true if the option where is true in no row within the bounds.
func (s *Selection) never(_ string, rows int64, bounds []column.Bounds) bool {
	possible, known := anyTruth, true
	err := column.Recovered(func() error {
		possible, known = s.where.within(rows, bounds)
		return nil
	})
	return err == nil && known && possible>>yes&1 == 0
}

// within returns the truths that the condition may have in rows within the bounds. known is false if a comparison returns an error,
// which reading the rows must report.
func (c *condition) within(rows int64, bounds []column.Bounds) (all truths, known bool) {
	switch c.op {
	case "and", "or":
		a, known := c.parts[0].within(rows, bounds)
		b, also := c.parts[1].within(rows, bounds)
		return combined(a, b, joins[c.op]), known && also
	case "not":
		a, known := c.parts[0].within(rows, bounds)
		return reversed(a), known
	}
	b := bounds[c.place]
	if _, err := humanize.ParseNumber(c.value.text); err != nil && c.op != "null" && c.value.kind == schema.Number {
		return anyTruth, false
	}
	if c.op == "null" {
		switch b.Nulls {
		case 0:
			return 1 << no, true
		case rows:
			return 1 << yes, true
		}
		return 1<<no | 1<<yes, true
	}
	if b.Nulls == rows && b.Ends == nil {
		return 1 << unknown, true
	}
	if b.Ends == nil || c.op == "like" {
		all = anyTruth
	} else if all, known = c.between(b.Ends); !known {
		return anyTruth, false
	}
	if b.Nulls == 0 {
		return all &^ (1 << unknown), true
	}
	return all | 1<<unknown, true
}

// reversed returns the truths of the negation.
func reversed(a truths) truths { return a&(1<<unknown) | a>>2&1 | a&1<<2 }

// between returns the truths of a comparison of values between two bounds, and of NaN if the values may be NaN.
func (c *condition) between(ends arrow.Array) (all truths, known bool) {
	least, greatest, known := c.compared(ends)
	if !known {
		return 0, false
	}
	all = c.spanned(least, greatest)
	switch ends.DataType().ID() {
	case arrow.FLOAT32, arrow.FLOAT64:
		least, greatest, known = c.compared(column.Floats([]float64{math.NaN(), math.NaN()}))
		all |= c.spanned(least, greatest)
	}
	return all, known
}

// compared returns the order of the first two values of an array against the literal.
func (c *condition) compared(a arrow.Array) (first, second int, known bool) {
	if c.fits(a.DataType()) != "" {
		return 0, 0, false
	}
	less, greater := *c, *c
	less.op, greater.op = "<", ">"
	below, err := less.comparer(a)
	if err != nil {
		return 0, 0, false
	}
	above, err := greater.comparer(a)
	if err != nil {
		return 0, 0, false
	}
	order := func(i int) int {
		switch {
		case below(i):
			return -1
		case above(i):
			return 1
		}
		return 0
	}
	return order(0), order(1), true
}

// spanned returns the truths of the comparison for values whose order against the literal is between least and greatest.
func (c *condition) spanned(least, greatest int) (all truths) {
	if least > greatest {
		return anyTruth
	}
	for o := least; o <= greatest; o++ {
		if orders[c.op](o) {
			all |= 1 << yes
		} else {
			all |= 1 << no
		}
	}
	return all
}
