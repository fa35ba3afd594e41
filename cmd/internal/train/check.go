package train

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"halfspace/cmd/internal/console"
	"halfspace/dataset"
	"halfspace/internal/block"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/internal/train"
	"halfspace/schema"
)

// check returns an error if an option can't be used, and sets the learner.
func (o *trainOptions) check(cmd *cobra.Command, args []string) error {
	o.Storage.Out, o.hasDefaultLearner = o.out, !cmd.Flags().Changed("algo") && o.init == ""
	if err := o.Options.Check(cmd.Context(), args); err != nil {
		return err
	}
	if o.validation == "-" {
		return console.Usagef("--validation is -: name a file, a glob or a directory")
	}
	if _, err := os.Stat(o.validation); err != nil {
		if share := console.Share(o.validation); share != "" {
			return console.Usagef("--validation is %s: use --validation %s to hold out that share of the rows", o.validation, share)
		}
		if strings.HasSuffix(o.validation, "%") {
			return console.Usagef("--validation is %s: use a share above 0 and below 1, such as 0.2", o.validation)
		}
	}
	if share, err := humanize.ParseNumber(o.validation); err == nil {
		if err := train.CheckShare(share); err != nil {
			return console.Usagef("%w, or ./%s for a file of that name", err, o.validation)
		}
		o.share = share
	}
	o.Storage.HasWeights = o.Data.SampleWeight != "" || len(o.classWeight) > 0
	if console.ToStdout(o.out) {
		return console.Usagef("--out is %s: name a file for the model", o.out)
	}
	if o.out != "" && o.saving.Dir != "" && sameFile(o.out, o.saving.Dir) {
		return console.Usagef("--out and --checkpoint are both %s: name a file for the model, and another folder", o.out)
	}
	if err := o.readWeights(); err != nil {
		return err
	}
	return o.setLearner(cmd)
}

// checkTraining returns an error if package train can't train the learners of the grid with the options.
func (o *trainOptions) checkTraining() error {
	s := &train.Session{Options: o.trainingOptions()}
	if s.HoldOut = o.share; o.validation != "" && o.share == 0 {
		s.Validation = new(block.Data) // the files aren't open yet
	}
	spec := &schema.Spec{Bias: !o.Data.NoBias, Weighted: o.Data.SampleWeight != "" || o.Data.Weights != ""}
	for _, l := range o.learners {
		if err := s.Check(l, spec); err != nil {
			return err
		}
	}
	return nil
}

// loadInit loads the model of --init. It sets the options that the model determines: the features, their preprocessing,
// the type, and the learner if --algo isn't given.
func (o *trainOptions) loadInit(a *console.App, cmd *cobra.Command) error {
	if o.init == "" {
		return nil
	}
	var err error
	if o.receipt != "" {
		if o.initState, err = dataset.SourcesOf([]string{o.init}); err != nil {
			return err
		}
	}
	m, err := console.LoadModel(cmd.Context(), o.init, o.Storage.Memory.Bytes)
	if err != nil {
		return err
	}
	if m.Expansion != nil || m.Voters != nil {
		return message.Errorf("%s: a model of --algo %s has no vector of weights to begin with: use one of --algo %s",
			o.init, m.Algorithm, humanize.OneOf(train.NamesWithInit()))
	}
	if !cmd.Flags().Changed("algo") {
		o.algo = m.Algorithm
		if m.Algorithm == train.OnlineName {
			o.algo = "perceptron"
		}
		if train.Describe(o.algo) == nil {
			return message.Errorf("%s: a model of %s can't go on without --algo: use %s", o.init, m.Algorithm,
				humanize.OneOf(train.NamesWithInit()))
		}
	}
	for _, name := range []string{"features", "exclude", "categorical", "positive", "no-bias", "nulls", "standardize"} {
		if cmd.Flags().Changed(name) {
			a.Note("--%s has no effect with --init: the model has its own", name)
		}
	}
	o.initModel = m
	o.Follow(m.Spec())
	return nil
}

// noteSplit notes that the options on splitting have no effect, if no rows are held back.
func (o *trainOptions) noteSplit(a *console.App) {
	if o.holdsBack() {
		return
	}
	for _, s := range [][2]string{{"group", o.Split.Group}, {"order-by", o.Split.OrderBy}} {
		if s[1] != "" {
			a.Note("--%s leaves out column %q, and has no other effect without --validation SHARE, --cv, --grid, "+
				"--path, --calibrate or --threshold f1", s[0], s[1])
		}
	}
	if o.Split.InOrder() {
		a.Note("--split has no effect without --validation SHARE, --cv, --grid, --path, --calibrate or --threshold f1")
	}
}

// keptRows returns the choice of the rows that remain for the training after --validation held out its share.
func (o *trainOptions) keptRows(counts []int64) func(class int) bool {
	has, err := o.split.HoldOut(o.seed, o.share, counts)
	if err != nil { // the files changed: train.HoldOutRows reports it
		return func(int) bool { return true }
	}
	return has.Others()
}

// sameFile tells whether two paths are equal as absolute paths. The files need not exist.
func sameFile(a, b string) bool {
	x, err := filepath.Abs(a)
	y, fail := filepath.Abs(b)
	return err == nil && fail == nil && x == y
}
