// Package metrics measures how good predictions are. Its accumulators take predictions in blocks of any size and in any
// order, with the same result, because their sums are exact. Rows may have weights. A row of weight 2 counts as two
// rows.
package metrics
