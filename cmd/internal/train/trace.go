package train

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"halfspace/cmd/internal/console"
	"halfspace/cmd/internal/report"
	"halfspace/internal/block"
	"halfspace/internal/checkpoint"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/internal/model"
	"halfspace/internal/parallel"
	"halfspace/internal/train"
	"halfspace/separability"
	"halfspace/train/learner"
	"halfspace/train/perceptron"
)

// checkReference is the value of --reference that searches for the plane with the largest margin.
const checkReference = "check"

func (o *traceOptions) addFlags(f *pflag.FlagSet) {
	f.StringVar(&o.file, "trace", "", "`FILE` Write to this table (.csv, .parquet or .arrow) how the training goes: "+
		"each update of perceptron, pocket, averaged and voted, each pass of other learners.")
	f.Int64Var(&o.every, "trace-every", 1, "`NUMBER` Trace only updates whose number is a multiple of this.")
	f.StringVar(&o.reference, "reference", "",
		"`MODEL|check` Trace the product and the angle of the weights with those of this model. check looks for the "+
			"plane with the largest margin first.")
}

// check returns an error if an option can't be used. It reads the model of --reference. inputs are the files that train
// reads, and outputs the other files that it writes.
func (o *traceOptions) check(a *console.App, cmd *cobra.Command, memory int64, inputs, outputs []string) (err error) {
	if o.file == "" {
		return refuseWith(cmd, "--trace FILE: name the file of the trace", "trace-every", "reference")
	}
	switch {
	case o.every < 1:
		return console.Usagef("--trace-every is %d: use 1 or more", o.every)
	case console.ToStdout(o.file):
		return console.Usagef("--trace %s and the report both write to standard output: name a file", o.file)
	case slices.Contains([]string{".svm", ".svmlight", ".libsvm"}, strings.ToLower(filepath.Ext(o.file))):
		return console.Usagef("--trace %s: name a file that ends in .csv, .parquet or .arrow", o.file)
	case slices.Contains(outputs, o.file):
		return console.Usagef("--trace and another option write %s: name another file", o.file)
	}
	if o.reference != "" && o.reference != checkReference {
		if o.referenceModel, err = console.LoadModel(cmd.Context(), o.reference, memory); err != nil {
			return message.Errorf("--reference: %w", err)
		}
		inputs = append(slices.Clone(inputs), o.reference)
	}
	return console.Claim(a, o.file, inputs)
}

// resume returns an error if the training goes on from a checkpoint and the file of the trace exists: the trace would
// replace the trace of the run before the stop. Otherwise it notes that the trace and the report begin at the checkpoint.
// follows tells whether the report follows the training.
func (o *traceOptions) resume(a *console.App, follows bool, saved *checkpoint.Run) error {
	names := "--trace and --report begin"
	visits, resumed := saved.ResumedVisits()
	switch {
	case !resumed || visits == 0 || o.file == "" && !follows:
		return nil
	case o.file == "":
		names = "--report begins"
	case !follows:
		names = "--trace begins"
	}
	if _, err := os.Stat(o.file); o.file != "" && err == nil {
		return console.Usagef("--trace %s with --resume: the file is there, and may have what came before the stop: "+
			"name another file", o.file)
	}
	a.Note(names+" at the checkpoint, after %s: earlier updates and passes are left out", humanize.Plural(visits, "visit"))
	return nil
}

// access returns the access to rows that the trace needs.
func (o *traceOptions) access() learner.Access {
	if o.reference == checkReference {
		return learner.NestedPasses
	}
	return learner.FileOrder
}

// trace starts the file of --trace. It makes the training send its points to the file, and to the report if the report
// follows the training. It returns nil if there is no file.
func (t *trainer) trace(ctx context.Context, opt *train.Options) (w *report.TraceWriter, err error) {
	own, updates := t.learner.Settings.(*perceptron.Settings)
	shards := updates && own.Shards > 1
	if t.tracing.file != "" {
		if shards {
			return nil, console.Usagef("--trace with --shards: a trace follows one path of weights, and each shard " +
				"has its own: leave one of them out")
		}
		layout := report.TraceLayout{HasUpdates: updates, HasErrors: updates && own.Pocket != ""}
		if opt.Trace, err = t.newTrace(ctx, opt.Multiclass, &layout); err != nil {
			return nil, err
		}
		grace, end := parallel.Grace(ctx)
		if w, err = report.CreateTrace(grace, t.tracing.file, layout); err != nil {
			end()
			return nil, message.Errorf("--trace: %w", err)
		}
		t.AtEnd(end)
		opt.Trace.Point = w.Add
	}
	if t.follows() {
		t.follower, opt.Trace = report.Follow(opt.Trace)
	}
	return w, nil
}

// follows tells whether the report follows the training: with --trace its updates, and without --trace only the passes
// of a solver, since to follow updates takes longer than to learn. A training with shards has no single path to follow.
func (o *trainOptions) follows() bool {
	return o.reporting.File != "" && (o.tracing.file != "" || o.learner.IsBatch() &&
		o.learner.Settings.Shared().Shards <= 1)
}

// newTrace completes the layout of a trace, and returns the options of the trace. multiclass is as in train.Options.
func (t *trainer) newTrace(ctx context.Context, multiclass string, layout *report.TraceLayout) (*train.Trace, error) {
	o, spec, l := &t.tracing, t.data.Spec(), t.learner
	joint := len(spec.Classes) > 2 && (multiclass == model.Joint || multiclass == "" && l.LearnsJointly(l.Settings))
	if len(spec.Classes) > 2 && !joint && !l.VersusRest {
		for _, c := range spec.Classes {
			layout.Classes = append(layout.Classes, c.Text)
		}
	}
	opt := &train.Trace{UpdatesPerPoint: o.every}
	if !layout.HasUpdates {
		if o.every != 1 || o.reference != "" {
			t.Note("--trace-every and --reference have no effect with --algo %s", l.Name)
		}
		return opt, nil
	}
	layout.Vector = report.WeightColumns(spec, joint)
	var err error
	opt.Reference, err = t.reference(ctx)
	layout.HasReference = opt.Reference != nil
	return opt, err
}

// reference returns the weights of --reference, or nil if there are none.
func (t *trainer) reference(ctx context.Context) ([]float64, error) {
	o, spec := &t.tracing, t.data.Spec()
	switch {
	case o.reference == "":
		return nil, nil
	case o.referenceModel != nil:
		w, err := train.WeightsFor(o.referenceModel, spec)
		if err != nil {
			err = message.Errorf("--reference %s: %w", o.reference, err)
		}
		return w, err
	case len(spec.Classes) > 2:
		return nil, console.Usagef("--reference check with %d classes, and check takes two: name a model", len(spec.Classes))
	}
	const most = 1000
	found, err := separability.Check(ctx, block.AssumeValid(t.data.Source), separability.Options{MaxPasses: most,
		Progress: func(passes int64) {
			t.bar.Show(console.Step{Name: "looking for the reference", Detail: "pass " + humanize.Count(passes), Done: passes})
		}})
	if err != nil {
		return nil, console.OfLearner(err, t.holdsBack())
	}
	if found.OriginPlane == nil {
		t.Note("--reference check: no plane was found that separates the classes, so the trace has no product and no lower bound")
		return nil, nil
	}
	return found.OriginPlane.Weights, nil
}

func (o *savingOptions) addFlags(f *pflag.FlagSet) {
	f.StringVar(&o.Dir, "checkpoint", "", "`FOLDER` Save the state of the training in this folder from time to time, "+
		"and when it is interrupted.")
	f.StringVar(&o.every, "checkpoint-every", "60s", "`TIME|EPOCHS` Time between two checkpoints, such as 10m, or a number of epochs.")
	f.BoolVar(&o.Resume, "resume", false, "Go on from the last checkpoint. The model is the same as without a stop.")
}

// check returns an error if an option can't be used. It also records the options that must have the same values on
// --resume.
func (o *savingOptions) check(cmd *cobra.Command) error {
	if o.Dir == "" {
		if err := refuseWith(cmd, "--checkpoint FOLDER: name the folder of the checkpoints", "checkpoint-every", "resume"); err != nil {
			return err
		}
	}
	if n, err := strconv.ParseInt(o.every, 10, 64); err == nil && n > 0 {
		o.Epochs = n
	} else if t, err := time.ParseDuration(o.every); err == nil && t >= time.Second {
		o.Every = t
	} else {
		return console.Usagef("--checkpoint-every is %q: use a time such as 60s, 10m or 1h, a second at least, or a "+
			"number of epochs", o.every)
	}
	o.sameOptions = append(o.sameOptions, [2]string{"the version of halfspace", console.Version()})
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "version" && !slices.Contains(unrecordedOptions, f.Name) { // lakeFact is the version
			o.sameOptions = append(o.sameOptions, [2]string{"--" + f.Name, f.Value.String()})
		}
	})
	return nil
}

// open opens the folder, and compares the options with the options of the run before. Without a folder it returns nil.
func (o *savingOptions) open(a *console.App) (*checkpoint.Run, error) {
	if o.Dir == "" {
		return nil, nil
	}
	o.Note = a.Warn
	run, err := checkpoint.Open(o.Options)
	if errors.Is(err, checkpoint.ErrUnfinished) {
		return nil, message.Errorf("%s has checkpoints of %w: add --resume, or name an empty folder", o.Dir, checkpoint.ErrUnfinished)
	}
	if err != nil {
		return nil, err
	}
	for _, s := range o.sameOptions {
		if err := run.CheckFact(s[0], s[1]); err != nil {
			run.Close()
			return nil, err
		}
	}
	return run, nil
}

// refuseWith returns an error if the user gave one of the options, which have no effect without another one. advice
// names the other one.
func refuseWith(cmd *cobra.Command, advice string, options ...string) error {
	for _, name := range options {
		if cmd.Flags().Changed(name) {
			return console.Usagef("--%s without "+advice, name)
		}
	}
	return nil
}
