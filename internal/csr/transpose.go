package csr

import (
	"halfspace/block"
	"halfspace/kernel"
)

// Transpose copies rows by column. Row j of the result has the numbers and the values of the rows that store column j, in
// the order in which each yields them. Transpose calls each twice, which calls do for every row, both times for the same
// rows. It returns the error of each.
func Transpose[T kernel.Float](cols int, each func(do func(r uint32, columns []uint32, values []T)) error) (*kernel.SparseRows[T], error) {
	t := &kernel.SparseRows[T]{Ptr: make([]int64, cols+1)}
	next := t.Ptr // the place of a column's next element, once the elements are counted
	err := each(func(_ uint32, columns []uint32, _ []T) {
		for _, j := range columns {
			next[j]++
		}
	})
	if err != nil {
		return nil, err
	}
	at := int64(0)
	for j, n := range next {
		next[j], at = at, at+n
	}
	t.Idx, t.Val = make([]uint32, at), block.Alloc[T](int(at))
	err = each(func(r uint32, columns []uint32, values []T) {
		for k, j := range columns {
			t.Idx[next[j]], t.Val[next[j]] = r, values[k]
			next[j]++
		}
	})
	if err != nil {
		return nil, err
	}
	copy(next[1:], next) // each place has moved to the first element of the next column
	next[0] = 0
	return t, nil
}
