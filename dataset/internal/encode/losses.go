package encode

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"halfspace/dataset/internal/frame"
	"halfspace/kernel"
)

// losses say what rounding changed in a column, and how wide the column's range is.
type losses struct {
	merged  atomic.Bool
	wide    atomic.Bool // its range is large against its numbers, so that the last digits don't matter
	mu      sync.Mutex
	rounded bool
	lo, hi  float64 // of the values
}

// wideEnough is the least range of a wide column, in units of the last digit of its greatest number.
const wideEnough = 1 << 12

// addValues adds values of a column of which some were rounded. A column that is wide once stays wide.
func addValues[T kernel.Float](l *losses, values []T) {
	if l.wide.Load() || len(values) == 0 {
		return
	}
	lo, hi := values[0], values[0]
	for _, v := range values {
		lo, hi = min(lo, v), max(hi, v)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.rounded {
		l.rounded, l.lo, l.hi = true, float64(lo), float64(hi)
	}
	l.lo, l.hi = min(l.lo, float64(lo)), max(l.hi, float64(hi))
	digit := 0x1p-24
	if unsafe.Sizeof(T(0)) == 8 {
		digit = 0x1p-53
	}
	if l.hi-l.lo >= wideEnough*digit*max(-l.lo, l.hi) {
		l.wide.Store(true)
	}
}

// matter tells whether the losses may matter to a learner: whole numbers became others, or the lost digits are large
// against the column's range.
func (l *losses) matter() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.merged.Load() || l.rounded && !l.wide.Load()
}

// left has the columns that were left out because they can't be features. It has their types, by the content of their
// text.
type left struct {
	of    map[frame.Content][]string
	texts bool // some could be as categories
}

// advice says of each content of text why it can't be a feature, and what to do.
var advice = map[frame.Content]string{
	frame.Dates:  "dates written as text (to use them, write numbers, such as the days since a date, or the month)",
	frame.Commas: "numbers with commas (write them with a decimal point alone, such as 1234.5)",
}

// add takes a column.
func (l *left) add(c frame.Column) {
	if l.of == nil {
		l.of = map[frame.Content][]string{}
	}
	l.of[c.Content] = append(l.of[c.Content], fmt.Sprintf("%q (%s)", c.Name, c.Desc))
	l.texts = l.texts || frame.Textual(c.Type) && c.Content == ""
}

// notes returns a line for each content.
func (l *left) notes() (lines []string) {
	for _, content := range slices.Sorted(maps.Keys(l.of)) {
		why := advice[content]
		if content == "" {
			why = "a feature is " + frame.FeatureTypes
			if l.texts {
				why += " (use --categorical onehot or hash:BITS for text)"
			}
		}
		lines = append(lines, some(l.of[content])+": left out, "+why)
	}
	return lines
}

// Warn tells about columns that aren't features by default, rows left out, and features that T rounds too coarsely.
func (b *Builder[T]) Warn(warn func(string)) {
	if warn == nil {
		return
	}
	for _, note := range b.sel.left.notes() {
		warn(note)
	}
	if n := b.Input - b.Rows; n > 0 {
		what := "a feature or the label"
		if b.sel.Weight >= 0 {
			what = "a feature, the label or the weight"
		}
		warn(fmt.Sprintf("%d of %d rows left out: %s is null, NaN or infinite there", n, b.Input, what))
	}
	for k, c := range b.texts {
		if c != nil && c.unknown.Load() > 0 {
			warn(fmt.Sprintf("column %q: %d of %d rows have a category that the training had not, it counts as none",
				b.sel.Inputs[k].Name, c.unknown.Load(), b.Rows))
		}
	}
	if b.sel.Fixed {
		return // the training told the rest
	}
	var names []string
	for k, i := range b.sel.Features {
		if b.losses[k].matter() {
			names = append(names, fmt.Sprintf("%q", b.sel.Columns[i].Name))
		}
	}
	switch {
	case len(names) == 0:
	case unsafe.Sizeof(T(0)) == 4 && !b.sel.standardize:
		warn(some(names) + ": float32 can't hold every value exactly, they are rounded (use --dtype float64 to keep them)")
	default:
		warn(some(names) + ": float64 can't hold every value exactly, they are rounded")
	}
	b.odd.Warn(b.sel, warn)
}

// some names columns, not all if they are many.
func some(names []string) string {
	const most = 4
	switch more := len(names) - most; {
	case more > 0:
		return fmt.Sprintf("columns %s and %d more", strings.Join(names[:most], ", "), more)
	case len(names) > 1:
		return "columns " + strings.Join(names, ", ")
	}
	return "column " + names[0]
}
