package cli

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"

	"halfspace/block"
	"halfspace/dataset"
	"halfspace/internal/say"
	"halfspace/kernel"
	"halfspace/schema"
	"halfspace/train"
)

// defaultFolds is how many folds a grid is judged on where none are asked for.
const defaultFolds = 5

// A variation is a training with some options of a grid.
type variation struct {
	settings map[string]string // of the options that the grid varies
	options  *trainOptions
	figures  *figures // to add to, or nil
	name     string   // of an entrant of compare
}

// checkFolds looks for what can't be cross-validated, and makes the variations of the grid: one without a grid.
func (o *trainOptions) checkFolds(cmd *cobra.Command) error {
	if o.folds != 0 && o.folds < 2 || o.folds < 0 {
		return usagef("--cv is %d: use 2 or more folds", o.folds)
	}
	if len(o.grid) > 0 && o.folds == 0 {
		o.folds = defaultFolds
	}
	if o.folds > 0 && o.validation != "" {
		return usagef("--validation with --cv or --grid, which judge on the rows that each fold holds back: leave one of them out")
	}
	points, err := o.points(cmd)
	if err != nil {
		return err
	}
	heard := map[string]bool{} // whether what the grid varies has a say in some variation
	for _, settings := range points {
		v, err := o.vary(cmd, settings)
		if err != nil {
			return err
		}
		o.variations = append(o.variations, variation{settings: settings, options: v})
		o.storage.access = max(o.storage.access, v.access())
		for name := range settings {
			heard[name] = heard[name] || v.has(name) && !(name == "eta" && v.scales())
		}
	}
	for _, name := range o.learner.uses {
		if has, varied := heard[name]; varied && !has {
			last := o.variations[len(o.variations)-1].options
			if last.has(name) {
				return usagef("--grid varies %q, which only scales the weights of %s: leave it out, or add --margin%s", name, last.deaf(name), last.orPenalty())
			}
			return usagef("--grid varies %q, which has no effect with %s: leave it out", name, last.deaf(name))
		}
	}
	return nil
}

// scales tells whether the learning rate only multiplies the weights: those of a perceptron that begins with zeros, where no margin and
// no penalty is measured against them.
func (o *trainOptions) scales() bool { return o.learner.loss && o.margin == 0 && o.l2 == 0 }

// orPenalty names the penalty where the learner has one, as what else makes a learning rate matter.
func (o *trainOptions) orPenalty() string {
	if slices.Contains(o.learner.uses, "l2") {
		return " or --l2"
	}
	return ""
}

// points returns every combination of what --grid lists, in its order, the last option varying fastest.
func (o *trainOptions) points(cmd *cobra.Command) ([]map[string]string, error) {
	points := []map[string]string{{}}
	for _, g := range o.grid {
		name, list, ok := strings.Cut(g, "=")
		if name = strings.TrimPrefix(strings.TrimSpace(name), "--"); !ok || name == "" || strings.TrimSpace(list) == "" {
			return nil, usagef("--grid is %q: write an option and its values, such as l2=0.1,1,10", g)
		}
		if names := o.gridNames(); !slices.Contains(names, name) {
			return nil, usagef("--grid can't vary %q with --algo %s: vary %s%s", name, o.learner.name, say.OneOf(names), didYouMean(name, names, ""))
		}
		if cmd.Flags().Changed(name) {
			return nil, usagef("--grid varies %q, which --%s sets: leave one of them out", name, name)
		}
		if _, twice := points[0][name]; twice {
			return nil, usagef("--grid varies %q twice: list all its values once", name)
		}
		var more []map[string]string
		for _, p := range points {
			for value := range strings.SplitSeq(list, ",") {
				point := map[string]string{name: strings.TrimSpace(value)}
				for k, v := range p {
					point[k] = v
				}
				more = append(more, point)
			}
		}
		if points = more; len(points) > maxPoints {
			return nil, usagef("--grid has more than %s combinations: vary less at a time", say.Count(maxPoints))
		}
	}
	return points, nil
}

// maxPoints bounds the combinations of a grid.
const maxPoints = 10_000

// gridNames returns what a grid can vary: the learner's options, but for those that other rows must judge.
func (o *trainOptions) gridNames() []string {
	return slices.DeleteFunc(slices.Clone(o.learner.uses), func(name string) bool {
		return name == "validation" || name == "early-stop" && !o.has("pocket")
	})
}

// vary returns the options with some of them set otherwise, checked as if they had been given so.
func (o *trainOptions) vary(cmd *cobra.Command, settings map[string]string) (*trainOptions, error) {
	if len(settings) == 0 {
		return o, nil
	}
	v, flags, ofRows := new(trainOptions), new(cobra.Command), new(cobra.Command)
	v.addFlags(flags)
	new(rowOptions).addTo(ofRows, "float32", "float64")
	var err error
	set := func(name, value string) {
		if err == nil {
			err = flags.Flags().Set(name, value)
		}
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		_, list := f.Value.(pflag.SliceValue)
		if !list && ofRows.Flags().Lookup(f.Name) == nil && flags.Flags().Lookup(f.Name) != nil {
			set(f.Name, f.Value.String())
		}
	})
	for _, name := range o.learner.uses {
		if value, ok := settings[name]; ok && err == nil {
			if err = flags.Flags().Set(name, value); err != nil {
				return nil, usagef("--grid: %w", flagError(flags, err))
			}
		}
	}
	v.rowOptions, v.classWeight, v.learner, v.folds, v.out, v.json = o.rowOptions, o.classWeight, o.learner, o.folds, o.out, o.json
	if err == nil {
		err = v.checkLearner()
	}
	if err == nil {
		err = v.settle(flags)
	}
	return v, err
}

// A crossValidation tells how trainings do on rows that they weren't trained on. Each of the folds is held back once.
type crossValidation struct {
	Folds  int     `json:"folds"`
	Chosen int     `json:"chosen"` // the point with the fewest errors, the first of equals
	Points []point `json:"points"`
}

type point struct {
	Options      map[string]string `json:"options"`                // that the grid varied
	Errors       *int64            `json:"errors"`                 // of all rows, each judged when its fold was held back; null of a point that failed
	ErrorWeight  *float64          `json:"error_weight,omitempty"` // of the rows that are wrong, where rows or classes have weights
	Accuracy     *float64          `json:"accuracy"`
	FoldAccuracy []float64         `json:"fold_accuracy"`
	Failed       string            `json:"failed,omitempty"` // why nothing was learned on some fold
	failure      error
	sum          tally
}

// crossValidate judges every variation on each fold in turn, by what it learns from the others. The chosen one has the fewest errors, or
// where rows or classes have weights, errors of the least weight. A variation that fails on a fold is left out; it is an error if all do.
func crossValidate[T kernel.Float](ctx context.Context, o *trainOptions, data *rows[T], bar *progress) (*crossValidation, error) {
	all := data.Source
	if err := checkCounts(ctx, o.folds, o.workers, all); err != nil {
		return nil, err
	}
	var classes []float64
	if len(o.classWeight) > 0 {
		var err error
		if classes, err = classWeights(ctx, o, all); err != nil {
			return nil, err
		}
	}
	cv := &crossValidation{Folds: o.folds, Points: make([]point, len(o.variations))}
	for i, v := range o.variations {
		cv.Points[i].Options = v.settings
	}
	has := func(f int) chooser { return fold(o.seed, o.folds, len(all.Spec().Classes), f) }
	inputs, err := foldInputs(ctx, o, data, has)
	if err != nil {
		return nil, err
	}
	for f := range o.folds {
		from := all
		if inputs != nil {
			if from, err = openFold(ctx, data, inputs[f]); err != nil {
				return nil, fmt.Errorf("fold %d of %d: %w", f+1, o.folds, err)
			}
		}
		if err := judgeFold(ctx, o, from, has(f), f, classes, cv, bar); err != nil {
			return nil, fmt.Errorf("fold %d of %d: %w", f+1, o.folds, err)
		}
	}
	return cv, cv.choose(all.Rows(), o.storage.weighted)
}

// foldInputs returns an input of all rows for each fold, whose features are learned from the rows outside of it; nil where features depend
// on no rows.
func foldInputs[T kernel.Float](ctx context.Context, o *trainOptions, data *rows[T], has func(fold int) chooser) ([]*dataset.Input[T], error) {
	in, err := data.input()
	if err != nil || !in.Learned() {
		return nil, err
	}
	return in.Shares(ctx, func([]int64) (choices []dataset.Choice) {
		for f := range o.folds {
			choices = append(choices, has(f).others())
		}
		return choices
	})
}

// openFold opens the rows of an input as those of data are: in memory, or as a stream.
func openFold[T kernel.Float](ctx context.Context, data *rows[T], in *dataset.Input[T]) (block.Source[T], error) {
	if _, inMemory := data.Source.(*block.Data[T]); inMemory {
		return in.Load(ctx)
	}
	return in.Stream(ctx)
}

// choose sets what the points have come to, and chooses one.
func (cv *crossValidation) choose(rows int64, weighted bool) error {
	cv.Chosen = -1
	for i := range cv.Points {
		p := &cv.Points[i]
		if p.failure != nil {
			p.Failed, p.FoldAccuracy = asTyped(p.failure.Error()), nil
			continue
		}
		accuracy := float64(rows-p.sum.errors) / float64(rows)
		p.Errors, p.Accuracy = &p.sum.errors, &accuracy
		if weighted {
			p.ErrorWeight = &p.sum.weight
		}
		if cv.Chosen < 0 || p.sum.weight < cv.Points[cv.Chosen].sum.weight {
			cv.Chosen = i
		}
	}
	if cv.Chosen < 0 {
		return cv.Points[0].failure
	}
	return nil
}

// checkCounts returns an error unless every fold gets rows, and leaves some of each class.
func checkCounts[T kernel.Float](ctx context.Context, folds, workers int, all block.Source[T]) error {
	counts, err := train.ClassCounts(ctx, all, workers)
	if err != nil {
		return err
	}
	for i, n := range counts {
		if n < 2 {
			return fmt.Errorf("--cv: class %s has %s, and takes 2 or more, to learn from and to judge on: leave it out", schema.NameClass(all.Spec().Classes[i]), say.Plural(n, "row"))
		}
	}
	if most := slices.Max(counts); int64(folds) > most {
		return fmt.Errorf("--cv is %d, but no class has more than %s: use as many folds at most", folds, say.Plural(most, "row"))
	}
	return nil
}

// fold holds back one of so many folds of rows of some classes. Each class is dealt out by itself, so that all folds have the share of
// it that all rows have: its rows go to the folds in turn, in a random order that is new in each round, by the generators of classRandoms.
func fold(seed uint64, folds, classes, number int) chooser {
	return func() dataset.Choice {
		decks, rngs := make([][]int, classes), classRandoms(seed, classes)
		return func(c int) bool {
			if len(decks[c]) == 0 {
				for f := range folds {
					decks[c] = append(decks[c], f)
				}
			}
			i, last := int(train.Draw(rngs[c], uint64(len(decks[c])))), len(decks[c])-1
			drawn := decks[c][i]
			decks[c][i], decks[c] = decks[c][last], decks[c][:last]
			return drawn == number
		}
	}
}

// judgeFold learns every variation from the rows outside of a fold, in memory several at a time, and counts the errors in it.
func judgeFold[T kernel.Float](ctx context.Context, o *trainOptions, all block.Source[T], has chooser, number int, classes []float64, cv *crossValidation, bar *progress) error {
	learned, held := &rows[T]{close: nothing}, &rows[T]{close: nothing}
	if err := split(ctx, o, all, has, learned, held, bar); err != nil {
		return err
	}
	defer learned.close()
	defer held.close()
	judges := held.Source
	if classes != nil {
		judges = train.Weigh(judges, classes)
	}
	side, bytes := 1, 2*block.Bytes[T](all.Rows(), all.Spec().Cols(), o.storage.weighted) // of the rows, and of the two shares of them
	if _, inMemory := all.(*block.Data[T]); inMemory && !o.learner.held {
		side = o.sideBySide(all.Rows(), bytes)
	}
	var g errgroup.Group
	g.SetLimit(side)
	for i, v := range o.variations {
		p := &cv.Points[i]
		if p.failure != nil {
			continue
		}
		bar.show("cross-validating", "", int64(number*len(o.variations)+i), int64(o.folds*len(o.variations)))
		g.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			opt := *v.options
			opt.workers = max(1, o.workers/side)
			j := &job[T]{trainOptions: &opt, held: bytes, src: learned.Source, note: func(string, ...any) {}}
			m, learned, err := j.learn(ctx)
			if err == nil {
				err = p.add(tallyOf(ctx, m, judges, opt.workers))
			}
			if err == nil && v.figures != nil {
				err = addFigures(ctx, v.figures, m, held.Source, opt.workers, learned.Seconds)
			}
			if err != nil {
				p.failure = fmt.Errorf("fold %d of %d: %s%w", number+1, o.folds, v.prefix(), err)
			}
			return ctx.Err()
		})
	}
	return g.Wait()
}

// prefix names the settings of a variation before an error.
func (v *variation) prefix() string {
	if len(v.settings) == 0 {
		return ""
	}
	return v.text() + ": "
}

// noted is how many bytes a learner keeps of a row at most, beside the rows: six numbers of svm's hinge, a weight and a label.
const noted = 8 * 8

// sideBySide returns how many variations are learned at a time from so many rows in memory, where these and their shares take that many
// bytes: as many as there are workers, and as there is room for what they note.
func (o *trainOptions) sideBySide(rows, bytes int64) int {
	room := o.storage.memory.limit()
	if o.storage.memory.bytes > 0 { // else that is what is available beside them
		room -= bytes
	}
	return int(max(1, min(int64(o.workers), int64(len(o.variations)), room/(rows*noted))))
}

// add adds what was counted on a fold.
func (p *point) add(t tally, err error) error {
	p.sum.rows += t.rows
	p.sum.errors += t.errors
	p.sum.weight += t.weight
	p.FoldAccuracy = append(p.FoldAccuracy, float64(t.rows-t.errors)/float64(t.rows))
	return err
}

// text names the settings, in the order of the learner's options.
func (v *variation) text() string { return settingsText(v.options.learner, v.settings) }

func settingsText(l *learner, settings map[string]string) string {
	var parts []string
	for _, name := range l.uses {
		if value, ok := settings[name]; ok {
			parts = append(parts, name+" "+value)
		}
	}
	return strings.Join(parts, ", ")
}

// deviation returns the standard deviation of the folds' accuracies.
func (p *point) deviation() float64 {
	n, mean, squares := float64(len(p.FoldAccuracy)), 0.0, 0.0
	for _, a := range p.FoldAccuracy {
		mean += a / n
	}
	for _, a := range p.FoldAccuracy {
		squares += (a - mean) * (a - mean)
	}
	return math.Sqrt(squares / (n - 1))
}

// table is the cross-validation of a grid for people.
func (cv *crossValidation) table(l *learner) [][]string {
	head := []string{"options", "errors", "accuracy", "std dev", "chosen"}
	weighted := cv.Points[cv.Chosen].ErrorWeight != nil
	if weighted {
		head = slices.Insert(head, 2, "weight")
	}
	rows := [][]string{head}
	for i, p := range cv.Points {
		if p.Failed != "" {
			rows = append(rows, append([]string{settingsText(l, p.Options), "failed"}, make([]string, len(head)-2)...))
			continue
		}
		row := []string{settingsText(l, p.Options), say.Count(*p.Errors), say.Percent(*p.Accuracy), say.Percent(p.deviation()), ""}
		if i == cv.Chosen {
			row[4] = "*"
		}
		if weighted {
			row = slices.Insert(row, 2, say.Real(*p.ErrorWeight))
		}
		rows = append(rows, row)
	}
	return rows
}

// failures says why points failed, a line for each.
func (cv *crossValidation) failures() (lines []string) {
	for _, p := range cv.Points {
		if p.Failed != "" {
			lines = append(lines, p.Failed)
		}
	}
	return lines
}

// summary tells how the chosen point did.
func (cv *crossValidation) summary(rows int64) string {
	p := &cv.Points[cv.Chosen]
	weight := ""
	if p.ErrorWeight != nil {
		weight = ", weight " + say.Real(*p.ErrorWeight)
	}
	return fmt.Sprintf("errors %s%s, in %d folds, each judged by a model of the others; accuracy of a fold %s to %s", errorsText(*p.Errors, rows), weight, cv.Folds,
		say.Percent(slices.Min(p.FoldAccuracy)), say.Percent(slices.Max(p.FoldAccuracy)))
}
