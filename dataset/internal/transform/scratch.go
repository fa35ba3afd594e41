package transform

// scratch is the memory for converting a panel of columns to rows.
type scratch struct {
	columns [][]float32
	values  []float32
	wide    []float64 // the numbers of a column or list before they are standardized

	cells, list []float32 // for sparse rows: the value of each column in each row, and the elements of a list

	pairs     pairScratch[float32] // for reading sparse lists
	widePairs pairScratch[float64]
}

// A pair is an element of a sparse list: the number of the feature within the column, and the value.
type pair[V float32 | float64] struct {
	index int
	value V
}

// pairScratch is the memory for reading a sparse list.
type pairScratch[V float32 | float64] struct {
	pairs  []pair[V]
	values []V
}

// A piece is sparse rows that one worker makes, before they are appended to the block. It has the elements of the
// rows, and the number of elements up to the end of each row.
type piece struct {
	columns []uint32
	values  []float32
	ends    []int
}
