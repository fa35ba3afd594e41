package encode

import (
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/block"
	"halfspace/dataset/internal/frame"
	"halfspace/schema"
)

// categories has the feature number of each category of a column.
type categories struct {
	numbers map[string]int // nil: they are hashed
	bits    int
	unknown atomic.Int64 // rows with a category that isn't there
}

// newCategories returns the categories of each column of a selection, nil for a column of numbers.
func newCategories(sel *Selection) []*categories {
	all := make([]*categories, len(sel.Inputs))
	for k, c := range sel.Inputs {
		switch c.Kind {
		case schema.OneHotColumn:
			all[k] = &categories{numbers: make(map[string]int, len(c.Categories))}
			for i, text := range c.Categories {
				all[k].numbers[text] = i
			}
		case schema.HashColumn:
			all[k] = &categories{bits: c.HashBits}
		}
	}
	return all
}

func (c *categories) number(a arrow.Array, i int) (int, string) {
	class, what := ClassOf(a, i)
	if what != "" {
		return 0, what
	}
	if c.numbers == nil {
		return schema.HashBucket(class.Text, c.bits), ""
	}
	if n, ok := c.numbers[class.Text]; ok {
		return n, ""
	}
	return -1, ""
}

// putCategories writes a one to the feature of each row's category. The rows have zeros there. Its results are those of
// read.
func (r *reader[T]) putCategories(rows []T, stride int, c Cut, s *scratch[T]) (row int, what string) {
	for i, span := range c.Spans() {
		gaps := frame.Missing(r.array, span.Lo, span.Hi)
		for from, g := span.Lo, 0; from < span.Hi; g++ {
			to := span.Hi
			if g < len(gaps) {
				to = gaps[g]
			}
			numbers := s.values[:to-from]
			if row, what := encodeValid(r.categories, r.array, from, numbers); what != "" {
				return row, what
			}
			for k, n := range numbers {
				if n >= 0 {
					rows[(i+from-span.Lo+k)*stride+r.first+int(n)] = 1
				} else {
					r.categories.unknown.Add(1)
				}
			}
			if g < len(gaps) {
				if r.fill == nil {
					return to, "null" + r.advice
				}
				rows[(i+to-span.Lo)*stride+r.first] = T(r.fill[0])
			}
			from = to + 1
		}
	}
	return 0, ""
}

// A collector finds the categories of a column.
type collector struct {
	texts map[string]bool
	bytes int64 // of them all
}

// adviseCategories says what to do if the categories of a column are too many or too long.
const adviseCategories = "leave it out with --exclude, or use --categorical hash:BITS"

func (c *collector) number(a arrow.Array, i int) (int, string) {
	class, what := ClassOf(a, i)
	if what != "" || c.texts[class.Text] {
		return 0, "" // the builder says where it is
	}
	if what := schema.CheckText(class.Text, "category"); what != "" {
		return 0, what + ": " + adviseCategories
	}
	if len(c.texts) == schema.MaxCategories {
		return 0, fmt.Sprintf("more than %d categories: %s", len(c.texts), adviseCategories)
	}
	c.texts[class.Text] = true
	c.bytes += int64(len(class.Text))
	return 0, ""
}

// Add adds the categories of rows. It returns the first row that is wrong, and what is wrong with it, or "".
func (c *collector) Add(a arrow.Array, rows Cut) (row int, what string) {
	var numbers [block.RunRows]float64
	for _, span := range rows.Spans() {
		gaps := frame.Missing(a, span.Lo, span.Hi)
		for from, g := span.Lo, 0; from < span.Hi; {
			to := min(span.Hi, from+len(numbers))
			if g < len(gaps) {
				to = min(to, gaps[g])
			}
			if row, what := encodeValid(c, a, from, numbers[:to-from]); what != "" {
				return row, what
			}
			if from = to; g < len(gaps) && to == gaps[g] {
				from, g = to+1, g+1
			}
		}
	}
	return 0, ""
}

// sorted returns the categories in ascending order.
func (c *collector) sorted() []string { return slices.Sorted(maps.Keys(c.texts)) }
