// Package block makes blocks of labelled rows from the numbers of a program.
//
// FromRows, FromFlat and FromGenerator return sources, which package train learns from. Package dataset makes sources
// of files. Package schema describes the columns.
//
// Package halfspace/internal/block defines the types: "go doc halfspace/internal/block.Block" prints fields and methods.
package block

import (
	"context"

	"halfspace/internal/block"
)

// Source yields the blocks of a data set in row order, once for each pass. Its methods are Spec, Rows and Blocks. A block
// is valid until the next block is requested. The blocks of a *Data stay valid.
type Source = block.Source

// Data is a data set in memory: a Source whose blocks stay valid, and whose rows can be read in any order.
type Data = block.Data

// Block is consecutive rows: the features X, dense or sparse, the labels Y and the sample weights.
type Block = block.Block

// Label is the type of a label: a number, a boolean or a string.
type Label = block.Label

// RowOptions describe the rows of a program. The zero value suits most programs. The fields are Features, the names of
// the features; Label, the name of the label; Positive, the text of the class +1; Weights, a sample weight for each row;
// NoBias; Standardize; and Spec, the Spec of a model, whose preprocessing makes the features.
type RowOptions = block.RowOptions

// RowError is an error about a row. Its fields are Row, the number of the row in the data, from 0 on; Column, the name of
// the feature; and Err. Get it by errors.As.
type RowError = block.RowError

// FromRows returns a data set of the rows x with the labels y. x[r] has the features of row r. y[r] is its label: a
// number, a boolean or a string. FromRows copies x and y.
//
//	data, err := FromRows(x, y, RowOptions{})
//
// The blocks equal the blocks that package dataset makes from a file with the same values.
//
// FromRows returns an error if there are no rows, if rows have different lengths, or if a feature is NaN, infinite or
// too large for float32. It also returns an error unless the labels have from 2 to schema.MaxClasses classes. An
// error about a value names its row and column.
func FromRows[F float32 | float64, L Label](x [][]F, y []L, opt RowOptions) (*Data, error) {
	return block.FromRows(x, y, opt)
}

// FromFlat is FromRows for rows of width features that are stored one after the other: row r is x[r*width :
// (r+1)*width].
func FromFlat[F float32 | float64, L Label](x []F, width int, y []L, opt RowOptions) (*Data, error) {
	return block.FromFlat(x, width, y, opt)
}

// FromGenerator returns the rows that the function rows makes, as a source that holds one block in memory, about 8 MiB.
// rows calls yield with the features and the label of each row, and returns when there are no more rows or when yield
// returns false. yield copies x, so rows may reuse its memory for the next row. Each pass over the source calls rows
// once, and every call must make the same rows in the same order. If rows returns an error, the pass ends with this
// error. FromGenerator itself makes the first pass, which counts the rows and finds the classes.
//
//	src, err := FromGenerator(ctx, func(yield func(x []float64, label string) bool) error {
//		...
//	}, RowOptions{})
//
// Options, errors and blocks are the same as for FromRows. Every pass checks the rows, and returns an error if their
// number differs from the first pass.
func FromGenerator[F float32 | float64, L Label](ctx context.Context, rows func(yield func(x []F, label L) bool) error,
	opt RowOptions) (Source, error) {
	return block.FromGenerator(ctx, rows, opt)
}
