// Package metrics measures how good predictions are. Its accumulators take predictions in pieces of any size and in any
// order, with the same result: they add up exactly. Rows may have weights. A row of the weight 2 counts as two rows.
package metrics
