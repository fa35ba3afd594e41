package flags

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"halfspace/cmd/internal/console"
	"halfspace/dataset"
	"halfspace/internal/humanize"
	"halfspace/internal/train"
	"halfspace/schema"
)

// Options are the options of verbs that learn from rows: which rows to read, and where to keep them.
type Options struct {
	Machine
	Data    Data // Check sets Prepare and Nulls. With a Spec, its features are used, and no other option defines features
	Storage Storage
	Split   Split

	prepare, nulls string // see Check
	form           string // of the rows in memory

	// LearnFrom chooses the rows from which features are learned, by the number of rows of each class; nil chooses all.
	// LearnFromName names the choice.
	LearnFrom     func(counts []int64) func(class int) bool
	LearnFromName string
}

// Follow uses the features of a model. The label is the model's label unless the user gave one.
func (o *Options) Follow(spec *schema.Spec) {
	o.Data.Spec, o.Data.Label = spec, cmp.Or(o.Data.Label, spec.Label)
}

func (o *Options) AddTo(cmd *cobra.Command) {
	o.AddData(cmd)
	o.AddMachine(cmd)
}

func (o *Options) AddData(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.Data.Label, "label", "", "`COLUMN` Column with the classes. (required, except for svmlight, and with --labels)")
	o.Data.AddLabels(cmd)
	f.StringSliceVar(&o.Data.Features, "features", nil,
		"`COLUMN,...` Columns to use as features, by name or glob. (default all except the label that can be features)")
	f.StringSliceVar(&o.Data.Exclude, "exclude", nil, "`COLUMN,...` Columns to leave out, by name or glob.")
	f.Var((*List)(&o.Data.Categorical), "categorical",
		"`CODING` Use columns of text as features. onehot makes one feature for each category; hash:BITS hashes "+
			"the categories to 2^BITS features. COLUMN=CODING,... codes only these columns, also columns of numbers.")
	f.StringArrayVar(&o.Data.Cross, "cross", nil,
		"`COLUMN,COLUMN` Use the categories of these columns together as features: each pair of categories is hashed "+
			"to 2^20 features, or to 2^BITS with COLUMN,COLUMN=hash:BITS. Give it again for more.")
	f.BoolVar(&o.Data.HashTexts, "hash-texts", false,
		"Keep texts of hashed categories in the model: the first three of each feature that has a weight. "+
			"inspect prints them.")
	f.StringVar(&o.Data.Positive, "positive", "", "`CLASS` The class with label +1. (default the greater of two classes)")
	f.BoolVar(&o.Data.NoBias, "no-bias", false, "Leave out the bias: the plane goes through the origin.")
	AddChoice(cmd, &o.prepare, "prepare", "`auto|none` Make features of texts, dates, and numbers with units, fill "+
		"in and mark missing values, and leave out columns that count or name the rows and rows without a label "+
		"(auto). Tables of numbers without a gap stay as they are. none makes features of numbers only.",
		"auto", "none")
	f.StringSliceVar(&o.Data.Types, "type", nil, "`COLUMN=TYPE,...` The type of columns, for --prepare auto: "+
		humanize.OneOf(dataset.TypeNames())+". (default as the values suggest)")
	AddChoice(cmd, &o.nulls, "nulls",
		"`auto|error|drop|zero|mean` What to do with missing values, NaN and infinities: stop (error), skip the "+
			"row (drop), fill with 0 (zero) or with the mean of the column (mean). auto is mean with --prepare auto, "+
			"which also marks the rows, and error with --prepare none.",
		append([]string{"auto"}, words(schema.AllNulls)...)...)
	f.BoolVar(&o.Data.Standardize, "standardize", false, "Subtract each feature's mean and divide by its standard deviation. "+
		"Features made from text stay as they are.")
	AddChoice(cmd, &o.form, "storage", "`auto|dense|sparse` How rows are held in memory: every value (dense), or "+
		"those that aren't 0 (sparse). auto chooses sparse where that takes 1/8 of the memory or less.",
		words([]dataset.Storage{dataset.Auto, dataset.Dense, dataset.Sparse})...)
	o.Data.AddRows(cmd)
	o.Data.AddText(cmd)
}

// AddMachine adds the flags that change no result.
func (o *Options) AddMachine(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Var(&o.Storage.Memory, "memory", "`SIZE` Most memory for rows, such as 256MiB or 8G. Rows that don't fit are "+
		"read again in each pass. (default 80 % of what is available)")
	f.StringVar(&o.Storage.cache, "cache", "", "`FILE` Store the decoded rows in this file, for this run and later ones.")
	o.Machine.AddTo(cmd)
}

// Examine describes the columns of files, and the features that they become. It returns nil if the columns aren't
// prepared, or can't be read again.
func (o *Options) Examine(ctx context.Context, paths []string, bar *console.Progress) (*dataset.Profile, error) {
	if !o.Data.Prepare || o.Data.Spec != nil || slices.Contains(paths, "-") {
		return nil, nil
	}
	opt := o.options(bar)
	t, err := dataset.Examine(ctx, paths, opt)
	if err != nil {
		return nil, err
	}
	p, err := t.Profile(ctx, opt)
	if errors.Is(err, dataset.ErrNoColumns) {
		return nil, nil
	}
	return p, err
}

// OptionsFor returns the options to read rows of the training, or of the validation, again for a model.
func (o *Options) OptionsFor(bar *console.Progress, spec *schema.Spec, validation bool) dataset.Options {
	if validation {
		return o.validationOptions(spec, bar)
	}
	opt := o.options(bar)
	opt.Spec, opt.Label = spec, spec.Label
	return opt
}

// words returns the values of an option as texts.
func words[S ~string](values []S) (all []string) {
	for _, v := range values {
		all = append(all, string(v))
	}
	return all
}

// Check returns an error if an option can't be used. It sets the label if the data has a default label, and applies the
// options on the machine.
func (o *Options) Check(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return console.Usagef("no data: name a file, a glob or a directory")
	}
	d := &o.Data
	if d.Prepare = o.prepare == "auto"; o.nulls != "auto" {
		d.Nulls = schema.Nulls(o.nulls)
	}
	NameArrays(&d.Options)
	if d.Label == "" {
		d.Label = dataset.DefaultLabel(ctx, args)
	}
	switch cached := o.Storage.cache != ""; {
	case d.Spec != nil && cached:
		return console.Usagef("--init with --cache, whose rows have features of their own: leave one of them out")
	case d.Label == "" && dataset.IsArray(args[0]):
		return console.Usagef("--labels is missing: name the .npy file that holds the classes, or their column in the array with --label")
	case d.Label == "":
		return console.Usagef("--label is missing: name the column that holds the classes")
	case len(d.Types) > 0 && !d.Prepare:
		return console.Usagef("--type with --prepare none: leave one of them out")
	case d.HashTexts && len(d.Cross) == 0 && !strings.Contains(d.Categorical, "hash:"):
		return console.Usagef("--hash-texts without hashed columns: add --categorical hash:BITS or --cross, or leave it out")
	}
	if err := d.Check(); err != nil {
		return err
	}
	if d.Rejects != nil && o.Storage.cache != "" {
		return console.Usagef("--rejects with --cache, which keeps no rejects: leave one of them out, or write the " +
			"good lines to another file first with halfspace convert --rejects")
	}
	if err := o.Storage.check(); err != nil {
		return err
	}
	return o.Machine.Apply()
}

// Split are the options on which rows stay together when some are held back. Their columns aren't features.
type Split struct {
	Group   string // column of groups
	OrderBy string // column of times
	method  string
}

func (s *Split) AddTo(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&s.Group, "group", "", "`COLUMN` Rows with the same value of this column, which is no feature, stay "+
		"together: in one fold, and on one side of --validation.")
	AddChoice(cmd, &s.method, "split", "`random|time` How rows are held back: at random within each class, or in order "+
		"of time (the order of the rows), so that later rows are predicted by models of earlier ones. --cv 5 then cuts "+
		"the rows into six pieces, and predicts each but the first by the pieces before.", "random", "time")
	f.StringVar(&s.OrderBy, "order-by", "", "`COLUMN` --split time in the order of this column, which is no feature: "+
		"numbers, dates, or texts of dates such as 2006-01-02 or 6/16/14.")
}

// InOrder tells whether rows are held back in order of time.
func (s *Split) InOrder() bool { return s.method == "time" }

// Check returns an error if the options exclude each other.
func (s *Split) Check() error {
	if s.Group != "" && (s.InOrder() || s.OrderBy != "") {
		return console.Usagef("--group with --split time or --order-by: leave one of them out")
	}
	return nil
}

// Name describes how rows are held back, as part of a cache's key.
func (s *Split) Name() string {
	switch {
	case s.Group != "":
		return ", groups of " + s.Group
	case s.OrderBy != "":
		return ", in order of " + s.OrderBy
	case s.InOrder():
		return ", in order"
	}
	return ""
}

// ReadSplit reads the column of --group or --order-by, and returns how rows are held back.
func ReadSplit(ctx context.Context, a *console.App, o *Options, paths []string,
	bar *console.Progress) (s train.Split, err error) {
	by := &o.Split
	column := cmp.Or(by.Group, by.OrderBy)
	if column == "" {
		return train.Split{InOrder: by.InOrder()}, nil
	}
	opt := o.options(bar)
	opt.Warn = a.Warn
	ranks, err := opt.Ranks(ctx, paths, column, by.OrderBy != "")
	if s.Column = column; by.Group != "" {
		s.Groups = ranks
	} else {
		s.Times = ranks
	}
	return s, err
}
