package dataset

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"halfspace/block"
	"halfspace/kernel"
)

// A reader makes the features of one column of a batch.
type reader[T kernel.Float] struct {
	first, width int // its features among the block's columns

	view view[T]        // of the column's numbers, or of the elements of its lists
	list array.ListLike // nil for a column of numbers
}

func newReaders[T kernel.Float](sel *selection, bt *batch) ([]reader[T], error) {
	readers := make([]reader[T], len(sel.features))
	first := 0
	for k, i := range sel.features {
		r := &readers[k]
		r.first, r.width = first, sel.inputs[k].Width()
		first += r.width
		values := bt.columns[i]
		var err error
		if sel.inputs[k].Kind == block.ListColumn {
			if r.list, err = asList(values); err == nil {
				values = r.list.ListValues()
			}
		}
		if err == nil {
			r.view, err = newView[T](values)
		}
		if err != nil {
			return nil, errorIn(bt.file, "column %q: %w", sel.columns[i].name, err)
		}
	}
	return readers, nil
}

func asList(a arrow.Array) (array.ListLike, error) {
	if list, ok := a.(array.ListLike); ok {
		return list, nil
	}
	return nil, fmt.Errorf("it is %s in a record, and lists of numbers are wanted", describe(a.DataType()))
}

// putLists writes the elements of the lists from row lo of the batch on to the columns of rows, which are in a block.
// It tells whether T holds all of them exactly, and returns the first row without a usable list and what is wrong there,
// or "".
func (r *reader[T]) putLists(rows []T, stride, lo int, scratch []T) (exact bool, row int, what string) {
	exact = true
	for row = lo; len(rows) > 0; row, rows = row+1, rows[stride:] {
		if r.list.IsNull(row) {
			return exact, row, "null " + fillIn
		}
		from, to := r.list.ValueOffsets(row)
		if int(to-from) != r.width {
			return exact, row, fmt.Sprintf("a list of %d, where others have %d (exclude the column with --exclude, or make them "+
				"equally long)", to-from, r.width)
		}
		values, all := r.view.read(int(from), int(to), scratch)
		exact = exact && all
		if !r.view.sound(int(from), values) {
			i, what := r.view.problem(int(from), values)
			return exact, row, fmt.Sprintf("element %d: %s", i-int(from), what)
		}
		copy(rows[r.first:r.first+r.width], values)
	}
	return exact, row, ""
}
