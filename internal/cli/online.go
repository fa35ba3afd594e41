package cli

import (
	"context"
	"fmt"
	"iter"
	"math"

	"github.com/spf13/cobra"

	"halfspace/block"
	"halfspace/dataset"
	"halfspace/internal/say"
	"halfspace/kernel"
	"halfspace/model"
	"halfspace/train"
)

type onlineOptions struct {
	machine
	text   textOptions
	memory byteSize

	label, model, positive string
	features, exclude      []string
	noBias, json           bool
	eta                    float64
	dtype                  choice
	out                    string
}

func (a *app) online() *cobra.Command {
	var o onlineOptions
	cmd := &cobra.Command{
		Use:   "online DATA... --label COLUMN [--model m.json] [--out n.json] [options]",
		Short: "Predict each row, then learn from it",
		Long: `Online visits the rows once, in their order: the perceptron predicts each row
before it learns from it. The mistakes of these predictions are reported at 1,
2, 4, 8... rows and at the end, beside Novikoff's bound (radius/margin)^2 if
the last weights separate the rows. --model continues from the weights of a
perceptron, its pocket or its mean; models of other learners are refused.

Ctrl-C ends the visits; the report and the model are those of the rows so far.
DATA is as in train, and read piece by piece. Files are read twice more: before,
to find the classes, and after, to measure the last weights. Standard input is a
stream of any length: each row is read once, and Ctrl-C ends the stream.
Without --model its first rows, up to 4 MiB, tell the columns and the two classes,
and svmlight, which doesn't say how many features there are, is held in memory.`,
		Example: `  halfspace online train.csv --label y --out m.json
  halfspace online - --label y --model m.json --out m.json <new.csv`,
	}
	f := cmd.Flags()
	f.StringVar(&o.label, "label", "", "`COLUMN` that holds the classes (default the model's; required without one, but for svmlight)")
	f.StringVar(&o.model, "model", "", "model `FILE` to go on with")
	f.StringSliceVar(&o.features, "features", nil, "`COLUMNS` to learn from: names or globs, comma-separated (default all that can be features but the label)")
	f.StringSliceVar(&o.exclude, "exclude", nil, "`COLUMNS` to leave out: names or globs, comma-separated")
	f.StringVar(&o.positive, "positive", "", "`CLASS` that is +1 (default the greater one)")
	f.BoolVar(&o.noBias, "no-bias", false, "learn a plane through the origin")
	f.Float64Var(&o.eta, "eta", 1, "learning `RATE`, above 0 and up to 1")
	addChoice(cmd, &o.dtype, "dtype", "`TYPE` of the numbers to compute with: float32 or float64", "float32", "float64")
	f.StringVar(&o.out, "out", "", "model `FILE` to write, replaced at once")
	f.BoolVar(&o.json, "json", false, "print the report as one JSON object")
	o.text.addTo(cmd)
	o.memory.addTo(cmd)
	o.machine.addTo(cmd)
	return a.verb(cmd, func(cmd *cobra.Command, args []string) error {
		if err := o.check(args); err != nil {
			return err
		}
		var m *model.Model
		if o.model != "" {
			var err error
			if m, err = loadModel(o.model); err != nil {
				return err
			}
			if err := checkGoesOn(o.model, m); err != nil {
				return err
			}
			a.noteGoesOn(o.model, m)
			for _, name := range []string{"features", "exclude", "positive", "no-bias", "dtype"} {
				if cmd.Flags().Changed(name) {
					a.note("--%s has no effect with --model", name)
				}
			}
			o.dtype.value = m.Dtype
			if o.label == "" {
				o.label = m.Label
			}
		}
		if o.label == "" {
			if o.label = dataset.DefaultLabel(cmd.Context(), args); o.label == "" {
				return usagef("--label is missing: name the column that holds the classes")
			}
		}
		paths, err := dataset.Expand(args)
		if err != nil {
			return err
		}
		if err := checkOut(o.out, paths); err != nil {
			return err
		}
		if o.out == "" {
			a.note("no --out: the model won't be kept")
		}
		if o.dtype.value == "float64" {
			return onlineAs[float64](cmd.Context(), a, &o, m, paths)
		}
		return onlineAs[float32](cmd.Context(), a, &o, m, paths)
	})
}

// checkGoesOn returns an error unless the perceptron can go on with a model: one vector of weights, which is all of it.
func checkGoesOn(path string, m *model.Model) error {
	switch {
	case m.Voters != nil:
		return fmt.Errorf("%s: the weights of a voted perceptron can't be continued: train one with --algo averaged", path)
	case len(m.Classes) != 2:
		return fmt.Errorf("%s: the model has %d classes, and only models of two can learn on: train one of two", path, len(m.Classes))
	case m.Expansion != nil:
		return fmt.Errorf("%s: a model of support rows has no weights that can learn on: train one with --algo averaged", path)
	case m.Algorithm != onlineName && !learnerNamed(m.Algorithm).loss:
		return fmt.Errorf("%s: a model of --algo %s can't be continued, since online makes the perceptron's updates: "+
			"train it again on all rows (halfspace train --algo %s), or train one with --algo averaged to continue from", path, m.Algorithm, m.Algorithm)
	}
	return nil
}

// noteGoesOn tells which options of the training of a model have no effect on how it learns on.
func (a *app) noteGoesOn(path string, m *model.Model) {
	o := &m.Options
	for _, option := range []struct {
		name string
		set  bool
	}{{"margin", o.Margin > 0}, {"l2", o.L2 != nil && *o.L2 > 0}, {"sample-weight", o.SampleWeight != ""}, {"class-weight", o.ClassWeight != nil}} {
		if option.set {
			a.note("%s was trained with --%s: online continues without it", path, option.name)
		}
	}
}

func (o *onlineOptions) check(args []string) error {
	if len(args) == 0 {
		return usagef("no data: name a file, a glob, a directory, or - for standard input")
	}
	if toStdout(o.out) {
		return usagef("--out is %s: name a file for the model", o.out)
	}
	if o.dtype.value == "float32" && float32(o.eta) == 0 || o.eta == 0 {
		return usagef("--eta is %v: use a learning rate above 0 that a %s can hold", o.eta, o.dtype.value)
	}
	if _, err := (train.Options{Eta: o.eta}).WithDefaults(); err != nil {
		return usagef("--%w", err)
	}
	if err := o.text.check(); err != nil {
		return err
	}
	return o.machine.apply()
}

// A progressive is what was counted until so many rows were visited.
type progressive struct {
	Rows     int64 `json:"rows"`
	Mistakes int64 `json:"mistakes"` // predictions, each made before the row was learned from, that were wrong
	Updates  int64 `json:"updates"`
}

// An onlineReport is what online --json prints.
type onlineReport struct {
	Rows         int64         `json:"rows"`
	Mistakes     int64         `json:"mistakes"`
	Updates      int64         `json:"updates"`
	Errors       *int64        `json:"errors"` // of the weights of the end; null of standard input, whose rows went by once
	Progressive  []progressive `json:"progressive"`
	Radius       float64       `json:"radius"`
	Margin       *float64      `json:"margin,omitempty"`
	MistakeBound *float64      `json:"mistake_bound,omitempty"` // of a perceptron that begins with zeros
	Interrupted  bool          `json:"interrupted"`
	Model        *string       `json:"model"`
}

func onlineAs[T kernel.Float](ctx context.Context, a *app, o *onlineOptions, m *model.Model, paths []string) error {
	bar := a.newProgress(o.progress.value)
	defer bar.end()
	work, again, end := ctx, paths[0] != "-", (<-chan struct{})(nil)
	if !again { // an interrupt ends the stream, and the rows that came by then are learned
		work, end = context.WithoutCancel(ctx), ctx.Done()
	}
	memory, undo := o.memory.hold()
	defer undo()
	opt := dataset.Options{Label: o.label, End: end, Workers: o.workers, Text: o.text.options(), Memory: memory, Warn: func(s string) { bar.end(); a.note("%s", s) }}
	if m != nil {
		opt.Spec = m.Spec()
	} else {
		opt.Features, opt.Exclude, opt.Positive, opt.NoBias = o.features, o.exclude, o.positive, o.noBias
	}
	in, err := dataset.Open[T](work, paths, opt)
	if err != nil {
		return err
	}
	open := in.Stream
	if !again {
		open = in.StreamOnce
	}
	src, err := open(work)
	if err != nil {
		return err
	}
	if err := train.TwoClasses(src.Spec()); err != nil {
		return fmt.Errorf("%s: %w", dataset.Name(paths), err)
	}
	w := block.Alloc[T](kernel.Stride[T](src.Spec().Cols()))
	if m != nil {
		copy(w, model.Vector[T](m))
	}
	v := &visitor[T]{Source: src, ctx: work, w: w, eta: T(o.eta), zeros: m == nil}
	v.show = func() { bar.show("learning", "", v.r.Rows, src.Rows()) }
	if err = v.learn(o.workers); err == nil && !again {
		err = ctx.Err()
	}
	if v.r.Interrupted = err != nil && ctx.Err() != nil; err != nil && !v.r.Interrupted {
		return ofLearner(err)
	}
	if v.r.Rows == 0 {
		if err == nil {
			err = fmt.Errorf("%s: no rows: name data that has some", dataset.Name(paths))
		}
		return err
	}
	if saved := v.finish(context.WithoutCancel(ctx), o, again); saved != nil {
		return saved
	}
	bar.end()
	print := func() error { return a.print(v.r.text()) }
	if o.json {
		print = func() error { return a.printJSON(&v.r) }
	}
	if printed := print(); printed != nil {
		return printed
	}
	return err
}

// A visitor is a source of which each block was learned from when it is handed on.
type visitor[T kernel.Float] struct {
	block.Source[T]
	ctx   context.Context
	w     []T
	eta   T
	zeros bool // w began with zeros
	show  func()

	r           onlineReport
	square      float64 // the largest of a row's squared norms
	fingerprint string
	err         error
}

// learn visits the rows until their end or that of the context, and takes the fingerprint of those that it visited.
func (v *visitor[T]) learn(workers int) error {
	var err error
	if v.fingerprint, err = block.Fingerprint(context.WithoutCancel(v.ctx), v, workers); err != nil {
		return err
	}
	return v.err
}

// Blocks ends without an error where learning does; v.err has it.
func (v *visitor[T]) Blocks(context.Context) iter.Seq2[*block.Block[T], error] {
	return func(yield func(*block.Block[T], error) bool) {
		for b, err := range v.Source.Blocks(v.ctx) {
			if v.err = err; err != nil {
				return
			}
			first := v.r.Rows
			v.err = v.visit(b)
			b = b.Slice(0, int(v.r.Rows-first))
			v.square = max(v.square, b.MaxSquaredNorm())
			if !yield(b, nil) || v.err != nil {
				return
			}
		}
	}
}

// visit has the perceptron predict each row and then learn from it, and counts.
func (v *visitor[T]) visit(b *block.Block[T]) error {
	r := &v.r
	for i, y := range b.Y {
		if i%1024 == 0 {
			if err := v.ctx.Err(); err != nil {
				return err
			}
			v.show()
		}
		x := b.X[i*b.Stride : (i+1)*b.Stride]
		s := kernel.Dot(x, v.w)
		if (s > 0) != (y > 0) {
			r.Mistakes++
		}
		if y < 0 && s >= 0 || y > 0 && s <= 0 {
			kernel.Axpy(v.w, v.eta*y, x)
			r.Updates++
		}
		if r.Rows++; r.Rows&(r.Rows-1) == 0 {
			r.Progressive = append(r.Progressive, progressive{r.Rows, r.Mistakes, r.Updates})
		}
	}
	return nil
}

// finish measures the rows that were visited by the weights of the end, if they can be read again, and writes the model.
func (v *visitor[T]) finish(ctx context.Context, o *onlineOptions, again bool) error {
	r, spec := &v.r, v.Spec()
	if last := r.Progressive[len(r.Progressive)-1]; last.Rows < r.Rows {
		r.Progressive = append(r.Progressive, progressive{r.Rows, r.Mistakes, r.Updates})
	}
	m := model.New(spec, v.w)
	m.Algorithm = onlineName
	m.Options = model.Options{Order: string(train.Cyclic), Epochs: 1, Eta: o.eta}
	m.Data = model.Data{Fingerprint: v.fingerprint, Rows: r.Rows}
	r.Radius = math.Sqrt(v.square)
	norm := train.Norm(v.w)
	if sum := norm + r.Radius; sum-sum != 0 {
		return train.TooLarge[T]()
	}
	m.Training = model.Training{Rows: r.Rows, Epochs: 1, Visits: r.Rows, Updates: r.Updates, Mistakes: &r.Mistakes, Radius: r.Radius, Norm: norm}
	if again {
		learned := train.Result[T]{Weights: v.w[:spec.Cols()]}
		if err := train.Evaluate(ctx, firstRows[T]{v.Source, r.Rows}, o.workers, &learned); err != nil {
			return err
		}
		r.Errors, m.Training.Errors = &learned.Errors, &learned.Errors
		if learned.Margin > 0 {
			m.Training.Margin, r.Margin = &learned.Margin, &learned.Margin
		}
		if bound := learned.MistakeBound(); v.zeros && !math.IsInf(bound, 0) { // Novikoff speaks of zeros
			m.Training.MistakeBound, r.MistakeBound = &bound, &bound
		}
	}
	if o.out == "" {
		return nil
	}
	r.Model = &o.out
	return m.Save(o.out)
}

// firstRows is the first rows of a source.
type firstRows[T kernel.Float] struct {
	block.Source[T]
	rows int64
}

func (s firstRows[T]) Rows() int64 { return s.rows }

func (s firstRows[T]) Blocks(ctx context.Context) iter.Seq2[*block.Block[T], error] {
	return func(yield func(*block.Block[T], error) bool) {
		for b, err := range s.Source.Blocks(ctx) {
			if err == nil && b.First+int64(b.Len()) > s.rows {
				b = b.Slice(0, int(s.rows-b.First))
			}
			if !yield(b, err) || err != nil || b.First+int64(b.Len()) >= s.rows {
				return
			}
		}
	}
}

func mistakesText(mistakes, rows int64) string {
	return fmt.Sprintf("%s of %s, each predicted before it was learned", say.Count(mistakes), say.Plural(rows, "row"))
}

// text is the report for people.
func (r *onlineReport) text() []byte {
	var s sheet
	share := func(n, rows int64) string { return say.Percent(float64(n) / float64(rows)) }
	rows, last := [][]string{{"rows", "mistakes", "of all", "of the last", "updates"}}, progressive{}
	for _, p := range r.Progressive {
		rows = append(rows, []string{say.Count(p.Rows), say.Count(p.Mistakes), share(p.Mistakes, p.Rows), share(p.Mistakes-last.Mistakes, p.Rows-last.Rows),
			say.Count(p.Updates)})
		last = p
	}
	s.table(rows)
	s.line("")
	pairs := []string{"mistakes", mistakesText(r.Mistakes, r.Rows)}
	if r.Errors != nil {
		pairs = append(pairs, "errors", errorsText(*r.Errors, r.Rows)+", of the weights of the end")
	}
	pairs = append(pairs, "radius", say.Real(r.Radius))
	switch {
	case r.Errors == nil:
	case r.MistakeBound != nil:
		pairs = append(pairs, "bound", fmt.Sprintf("%s mistakes, (radius/margin)^2 with the margin %s of the weights of the end", say.Bound(*r.MistakeBound), say.Real(*r.Margin)))
	case r.Margin == nil:
		pairs = append(pairs, "bound", "unknown: the weights of the end don't separate the rows")
	}
	if r.Model != nil {
		pairs = append(pairs, "model", *r.Model)
	}
	s.pairs(pairs...)
	return s.Bytes()
}
