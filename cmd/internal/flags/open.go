package flags

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"slices"

	"halfspace/cmd/internal/console"
	"halfspace/dataset"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/schema"
)

// OpenRows opens the rows as the options say: see dataset.Open. It sets the memory limit of the garbage collector. It
// clears o.Data.Standardize if o.Data.KeepWide left the rows unscaled.
func OpenRows(ctx context.Context, a *console.App, o *Options, paths []string, bar *console.Progress) (*dataset.Rows, error) {
	opt := o.options(bar)
	opt.Warn = a.Warn
	debug.SetMemoryLimit(opt.Memory) // while the columns are planned; the opened rows set their own limit
	b := o.Storage.budget()
	if b.Cache == "" {
		b.Engine = a.Engine
	}
	rows, err := dataset.Open(ctx, paths, opt, b)
	if err == nil && o.Data.KeepWide && hasUnscaledNumbers(rows.Spec().Preprocessing) {
		o.Data.Standardize = false
	}
	return rows, err
}

// hasUnscaledNumbers tells whether some features are numbers, and none is standardized.
func hasUnscaledNumbers(p *schema.Preprocessing) bool {
	return p == nil || !p.Standardized() && slices.ContainsFunc(p.Columns, func(c schema.Column) bool { return !c.Categorical() })
}

func (o *Options) options(bar *console.Progress) dataset.Options {
	opt := o.Data.Options
	if opt.Spec == nil {
		opt.RankBy = cmp.Or(o.Split.Group, o.Split.OrderBy)
		opt.LearnFrom, opt.LearnedFrom = o.LearnFrom, o.LearnFromName
	}
	opt.Workers, opt.Memory, opt.Progress, opt.Storage = o.Workers, o.Storage.Memory.Limit(), bar.Reading("loading"),
		dataset.Storage(o.form)
	return opt
}

// validationOptions returns the options for the rows of a validation, with the features and classes of spec.
func (o *Options) validationOptions(spec *schema.Spec, bar *console.Progress) dataset.Options {
	own := *o
	d := &own.Data
	d.Labels, d.Weights, d.Version, d.Sample, d.Limit = "", "", "", 0, 0 // of the training rows
	d.Spec, d.Label = spec, spec.Label
	return own.options(bar)
}

// OpenValidation opens the rows of a validation, with the features and classes of learned. It keeps them in memory if
// they fit in addition to learned, and in a temporary cache otherwise.
func OpenValidation(ctx context.Context, a *console.App, o *Options, paths []string, learned *dataset.Rows,
	bar *console.Progress) (*dataset.Rows, error) {
	if o.Data.Labels != "" && dataset.IsArray(paths[0]) {
		return nil, message.Errorf("%s: the labels of --labels are those of the training rows: hold out a share of "+
			"these, as in --validation 0.2, or name a table with the column %q", paths[0], learned.Spec().Label)
	}
	opt := o.validationOptions(learned.Spec(), bar)
	opt.Progress, opt.Warn = bar.Reading("loading the validation"), func(s string) { a.Note("--validation: %s", s) }
	v, err := dataset.Open(ctx, paths, opt, o.Storage.budgetBeside(learned.Source))
	if err == nil && v.Rows() == 0 {
		v.Close()
		return nil, fmt.Errorf("%s: no rows: name data that has some", humanize.Files(paths))
	}
	return v, err
}
