// Package records converts Arrow records to rows for learners.
//
// It also returns predictions as Arrow records. It is for programs that hold records: unlike package dataset, it
// links neither Parquet nor the readers of files.
package records

import (
	"context"
	"errors"
	"iter"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/plan"
	"halfspace/dataset/internal/transform"
	"halfspace/internal/block"
	"halfspace/schema"
)

// Errors that a program may want to act on; package dataset has the same errors. Errors of this package wrap them:
// test with errors.Is.
var (
	// ErrColumn: a column is absent, or its type doesn't suit its use.
	ErrColumn = column.ErrColumn
	// ErrNulls: a value is missing, and Options.Nulls doesn't say how to treat it.
	ErrNulls = column.ErrNulls
	// ErrMemory: the rows take more memory than Options.Memory allows.
	ErrMemory = column.ErrMemory
)

// Options determine which columns of records are read and how they are used. The fields have the same meaning as in
// dataset.Options, and features, labels and weights may have the same types.
type Options struct {
	Label        string       // label column; "": no labels
	Features     []string     // feature columns or patterns, in this order; empty: all usable columns
	Exclude      []string     // columns or patterns that aren't features
	Positive     string       // text of the class +1; "": the greater class
	SampleWeight string       // column of the sample weights; "": none
	NoBias       bool         // no bias column of ones
	Nulls        schema.Nulls // treatment of missing values; "": return an error
	Categorical  string       // how text columns become features: "onehot", "hash:BITS"; "": they don't
	Cross        []string     // columns whose categories make features together, as "color,city" or "color,city=hash:BITS"
	HashTexts    bool         // store texts of columns that Categorical or Cross hashes; see dataset.Options
	Standardize  bool         // subtract the mean of each feature, and divide by its standard deviation
	Spec         *schema.Spec // of a model, which fixes features and classes; then only Label, SampleWeight and Storage are used
	Storage      Storage      // form of rows in blocks: Auto (also ""), Dense or Sparse. A dense row has at most 262,144 features

	Workers  int                     // goroutines that compute at the same time; 0: GOMAXPROCS. Results don't depend on it
	Memory   int64                   // maximum bytes of the blocks, at least 48 MiB; 0: no limit
	Progress func(rows, total int64) // called with the number of rows read; total is -1. May be nil
	Warn     func(text string)       // called about columns that aren't features, rows left out, and inexact data. May be nil
}

// A Storage is the form in which blocks store rows. The rows and the trained models are the same in every form.
type Storage = plan.Storage

// The values of Storage are the values of dataset.Storage.
const (
	Dense  = plan.Dense
	Sparse = plan.Sparse
	Auto   = plan.Auto
)

// Load reads all records of r into memory. The rows equal the rows that dataset.Load makes from files with the same
// values. Load doesn't release r.
//
// Load can't distinguish a source that ends early without an error from a complete source. Arrow's ipc.Reader is an
// example: it returns no error if its stream was cut between two messages.
func Load(ctx context.Context, r array.RecordReader, opt Options) (*block.Data, error) {
	p, err := column.PoolOf(opt.Workers)
	if err != nil {
		return nil, err
	}
	bound, err := bind(r, opt.draft())
	if err != nil {
		return nil, err
	}
	batches := column.RecordBatches(ctx, r, bound.Roles, nil)
	if bound.Unlearned() {
		all, again := transform.Remember(batches)
		defer func() {
			for _, bt := range all {
				bt.Release()
			}
		}()
		if bound, err = bound.Learn(ctx, "", p, again, -1, opt.Progress); err != nil {
			return nil, err
		}
		batches = again
	}
	if err := transform.SetStorage(bound, opt.Storage, bound.MostElements(), 1); err != nil {
		return nil, err
	}
	whole := transform.Part{First: 0, Last: -1, Batches: func(column.Pool) iter.Seq2[*column.Batch, error] { return batches }}
	return transform.Collect(ctx, transform.Load{Binding: bound, Pool: p, Alloc: memory.DefaultAllocator,
		Memory: opt.Memory, Progress: opt.Progress, Warn: opt.Warn}, []transform.Part{whole})
}

// draft returns the draft that the options describe.
func (opt Options) draft() plan.Draft {
	return plan.Draft{Plan: plan.Plan{Label: opt.Label, Weight: opt.SampleWeight, Spec: opt.Spec, Positive: opt.Positive,
		Bias: !opt.NoBias, Nulls: opt.Nulls, Standardize: opt.Standardize, HashTexts: opt.HashTexts, Storage: opt.Storage},
		Features: opt.Features, Exclude: opt.Exclude, Categorical: opt.Categorical, Cross: opt.Cross}
}

// bind binds a draft to the columns of a reader.
func bind(r array.RecordReader, d plan.Draft) (*transform.Binding, error) {
	if r == nil {
		return nil, errors.New("the reader of records is nil")
	}
	var schema *arrow.Schema
	if err := column.Recovered(func() error { schema = r.Schema(); return nil }); err != nil || schema == nil {
		return nil, errors.New("the records have no schema: make the reader with one")
	}
	return transform.Bind(transform.NewFileColumns("", column.FieldColumns(schema)), d)
}
