// Package records makes rows of Arrow records, and Arrow records of predictions. It is for programs that hold records: it
// links neither Parquet nor the readers of files, which package dataset has.
package records

import (
	"context"
	"errors"
	"iter"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/block"
	"halfspace/dataset/internal/encode"
	"halfspace/dataset/internal/frame"
	"halfspace/schema"
)

// Errors of this package that a program may want to act on wrap one of these, which are those of package dataset. Test
// with errors.Is.
var (
	// ErrColumn: a column is absent, or its type doesn't suit its use.
	ErrColumn = frame.ErrColumn
	// ErrNulls: a value is missing, and Options.Nulls doesn't say what to do with it.
	ErrNulls = frame.ErrNulls
	// ErrMemory: the rows take more memory than Options.Memory allows.
	ErrMemory = frame.ErrMemory
)

// Options say which columns of records are read and what they mean. The fields, and the types that features, labels and
// weights can have, are those of dataset.Options.
type Options struct {
	Label        string       // label column; "": none, blocks have no labels
	Features     []string     // feature columns or patterns, in this order; empty: all that can be one
	Exclude      []string     // columns or patterns that aren't features
	Positive     string       // text of the class +1; "": the greater one
	SampleWeight string       // column of the sample weights; "": none
	NoBias       bool         // no column of ones
	Nulls        schema.Nulls // what to do with missing values; "": stop with an error
	Categorical  string       // how columns of text become features: "onehot", "hash:BITS"; "": they don't
	Cross        []string     // columns whose categories make features together, as "color,city" or "color,city=hash:BITS"
	HashTexts    bool         // keep texts of columns that Categorical or Cross hashes; see dataset.Options
	Standardize  bool         // subtract the mean of each feature, and divide by its standard deviation
	Spec         *schema.Spec // of a model, whose features and classes the rows get; nil: none. Only Label, SampleWeight and Storage count beside it
	Storage      Storage      // how blocks hold rows: "" and Dense, Sparse or Auto. A dense row has at most 262,144 features

	Workers  int                     // goroutines that compute at once; 0: GOMAXPROCS. No result depends on it
	Memory   int64                   // most bytes of the blocks, at least 48 MiB; 0: no bound
	Progress func(rows, total int64) // told how many rows were read; total is -1. May be nil
	Warn     func(text string)       // told about columns that aren't features, rows left out, and data that isn't read exactly. May be nil
}

// A Storage says how blocks hold rows. The rows, and all that is learned from them, are the same.
type Storage = encode.Storage

// The values of Storage are those of package dataset.
const (
	Dense  = encode.Dense
	Sparse = encode.Sparse
	Auto   = encode.Auto
)

// Load reads all records of r into memory. The rows are those that dataset.Load makes of files with the same values. It
// doesn't release r.
//
// The rows end where r does. Load can't tell a source that ends early without an error from one that is complete.
// Arrow's ipc.Reader is such a source when its stream was cut between two messages.
func Load(ctx context.Context, r array.RecordReader, opt Options) (*block.Data, error) {
	p, err := frame.PoolOf(opt.Workers)
	if err != nil {
		return nil, err
	}
	choices := encode.Choices{Label: opt.Label, Positive: opt.Positive, SampleWeight: opt.SampleWeight, Features: opt.Features,
		Exclude: opt.Exclude, NoBias: opt.NoBias, Standardize: opt.Standardize, Nulls: opt.Nulls, Categorical: opt.Categorical, Cross: opt.Cross,
		HashTexts: opt.HashTexts, Most: opt.Storage.Widest(), Spec: opt.Spec}
	sel, err := choose(r, choices)
	if err != nil {
		return nil, err
	}
	batches := frame.RecordBatches(ctx, r, sel.Chosen)
	if sel.Unmeasured() || sel.Unlearned() {
		all, again := encode.Remember(batches)
		defer func() {
			for _, bt := range all {
				bt.Release()
			}
		}()
		if sel.Unmeasured() {
			err = sel.MeasureLists(ctx, "", p, again, -1, opt.Progress)
		}
		if err == nil && sel.Unlearned() {
			err = sel.Learn(ctx, "", p, again, -1, opt.Progress)
		}
		if err != nil {
			return nil, err
		}
		batches = again
	}
	if err := encode.SetStorage(sel, opt.Storage, sel.MostElements(), 1); err != nil {
		return nil, err
	}
	whole := encode.Part{First: 0, Last: -1, Batches: func(frame.Pool) iter.Seq2[*frame.Batch, error] { return batches }}
	return encode.Collect(ctx, encode.Load{Choices: choices, Selection: sel, Pool: p, Alloc: memory.DefaultAllocator,
		Memory: opt.Memory, Progress: opt.Progress, Warn: opt.Warn}, []encode.Part{whole})
}

// choose chooses among the columns of a reader.
func choose(r array.RecordReader, choices encode.Choices) (*encode.Selection, error) {
	if r == nil {
		return nil, errors.New("the reader of records is nil")
	}
	var schema *arrow.Schema
	if err := frame.Recovered(func() error { schema = r.Schema(); return nil }); err != nil || schema == nil {
		return nil, errors.New("the records have no schema: make the reader with one")
	}
	return encode.Choose(encode.NewFileColumns("", frame.FieldColumns(schema)), choices)
}
