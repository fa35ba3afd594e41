package csr

import "halfspace/block"

// Transpose copies rows to column order. Column j has the values val[k] in the rows idx[k], for k from ptr[j] to
// ptr[j+1], in the order in which each yields the rows. Transpose calls each twice. Both times each must call do for
// the same rows. Transpose returns the error of each.
func Transpose[T float32 | float64](cols int, each func(do func(r uint32, columns []uint32, values []T)) error) (ptr []int64, idx []uint32, val []T, err error) {
	next := make([]int64, cols+1) // first the number of elements of each column, then the place of the column's next element
	err = each(func(_ uint32, columns []uint32, _ []T) {
		for _, j := range columns {
			next[j]++
		}
	})
	if err != nil {
		return nil, nil, nil, err
	}
	at := int64(0)
	for j, n := range next {
		next[j], at = at, at+n
	}
	idx, val = make([]uint32, at), block.Alloc[T](int(at))
	err = each(func(r uint32, columns []uint32, values []T) {
		for k, j := range columns {
			idx[next[j]], val[next[j]] = r, values[k]
			next[j]++
		}
	})
	if err != nil {
		return nil, nil, nil, err
	}
	copy(next[1:], next) // each place has moved to the first element of the next column
	next[0] = 0
	return next, idx, val, nil
}
