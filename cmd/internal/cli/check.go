package cli

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"math"
	"math/big"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"halfspace/cmd/internal/console"
	"halfspace/cmd/internal/flags"
	"halfspace/cmd/internal/report"
	"halfspace/dataset"
	"halfspace/internal/block"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/internal/model"
	"halfspace/kernel"
	"halfspace/plot"
	"halfspace/schema"
	"halfspace/separability"
	"halfspace/train/learner"
)

type checkOptions struct {
	flags.Options
	json      bool
	reporting report.Options
}

//go:embed verify.py
var verifyLines string

func Check(a *console.App) *cobra.Command {
	var o checkOptions
	cmd := &cobra.Command{
		Use:         "check DATA... --label COLUMN [options]",
		Annotations: console.ReadsData,
		Short:       "Find out whether a plane separates two classes, with a proof",
		Long: `Check finds out whether a hyperplane separates two classes: all rows of one
class on one side, all rows of the other class on the other side. It proves the
answer.

If a plane separates them, the proof is its weights. Exact arithmetic verifies
the sign of each row's score. Check reports two planes:

  - the plane with the largest margin, if the bias counts as a coordinate: a
    perceptron makes at most (radius / margin)^2 mistakes (Novikoff 1962)
  - the plane that is farthest from the rows

If no plane separates them, the proof is a witness: a few rows with positive
weights, for which the weighted sum of label * (features, 1) is zero in every
column. The labels are -1 and +1. So no plane has label * score above zero for
all of these rows. The weights are exact fractions. If several witnesses share
no row, every plane is wrong on at least one row of each.

The verdict holds for the rows as training holds them: each feature rounded to
float32. Features that --standardize scales are rounded after that, with
float64 arithmetic before. Rows are numbered from 0; rows that --nulls drop skips have no number.
Rows that don't fit in --memory are read again in each pass from --cache or a
temporary file.

The verdict is "undecided", with the reason, after 1,000 passes over the rows or
some minutes of arithmetic between them.

With more than two classes, --positive CLASS checks that class versus the rest.

--json prints the proof. inspect shows it with lines of code that verify it.`,
		Example: `  halfspace check train.parquet --label y
  halfspace check train.csv --label y --json > proof.json && halfspace inspect proof.json`,
	}
	o.AddTo(cmd)
	o.reporting.AddFlag(cmd.Flags())
	cmd.Flags().BoolVar(&o.json, "json", false, "Print the report as one JSON object.")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.Storage.Access = learner.NestedPasses // check makes many passes, and trains a pocket at the end
		o.Storage.VerbBytes = separability.Bytes
		if err := o.Check(cmd.Context(), args); err != nil {
			return err
		}
		paths, err := o.Data.Expand(cmd.Context(), args, a.Warn)
		if err != nil {
			return err
		}
		if err := cmp.Or(o.Data.Claim(a, paths), o.reporting.Check(a, cmd, args, paths, nil)); err != nil {
			return err
		}
		return checkAs(cmd.Context(), a, &o, paths)
	}
	return cmd
}

func checkAs(ctx context.Context, a *console.App, o *checkOptions, paths []string) error {
	start := time.Now()
	bar := a.NewProgress(o.Progress)
	defer bar.End()
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	data, err := flags.OpenRows(ctx, a, &o.Options, paths, bar)
	if err != nil {
		return err
	}
	defer data.Close()
	if err := oneVersusRest(o, data); err != nil {
		return fmt.Errorf("%s: %w", humanize.Files(paths), err)
	}
	load := time.Since(start).Seconds()
	const most = 1000
	found, err := separability.Check(ctx, block.AssumeValid(data.Source), separability.Options{Workers: o.Workers, MaxPasses: most,
		Progress: func(passes int64) {
			bar.Show(console.Step{Name: "checking", Detail: "pass " + humanize.Count(passes), Done: passes})
		}})
	if err != nil {
		return console.OfLearner(err, false)
	}
	bar.End()
	r := newCheckReport(o, data.Spec(), data.Rows(), found)
	_, inMemory := data.Source.(*block.Data)
	total := time.Since(start).Seconds()
	r.IsStreamed, r.Seconds = !inMemory, checkSeconds{Load: load, Check: total - load, Total: total}
	if err := o.reporting.Write(ctx, func() (*plot.Page, error) {
		return o.page(a, r, paths), nil
	}); err != nil {
		return err
	}
	return a.Report(o.json, r, r.sheet)
}

// oneVersusRest turns more than two classes into two: the class of --positive, and the rest. It returns an error if
// --positive is missing.
func oneVersusRest(o *checkOptions, data *dataset.Rows) error {
	spec := data.Spec()
	if n := len(spec.Classes); n > 2 && o.Data.Positive == "" {
		versus := message.Sprintf(": use --positive %s to check that class versus the rest, choose", spec.Classes[n-1])
		return message.Errorf("column %q: %d classes (%s), check takes two%s", spec.Label, n,
			schema.ListClasses(spec.Classes),
			strings.Replace(schema.AdviseClasses(spec.Classes), ": choose", versus, 1))
	}
	if len(spec.Classes) > 2 {
		data.Source = learner.VersusRest(data.Source, spec.PositiveClass())
	}
	return learner.TwoClasses(data.Spec())
}

// A CheckReport is the JSON object of check --json.
type CheckReport struct {
	IsSeparable *bool          `json:"separable"` // null: undecided
	Reason      string         `json:"reason,omitempty"`
	advice      string         // advice for an undecided verdict; "" if the options aren't known
	IsVerified  bool           `json:"verified"` // in exact arithmetic
	Rows        int64          `json:"rows"`
	Features    []string       `json:"features"` // empty if there are too many to list
	width       int            // number of features
	Classes     []schema.Class `json:"classes"`
	Positive    schema.Class   `json:"positive"`
	FitBias     bool           `json:"fit_bias"` // the bias is a column of ones
	Radius      float64        `json:"radius"`

	*PlaneReport
	MistakeBound     *float64          `json:"mistake_bound,omitempty"`
	NormalizedMargin *float64          `json:"normalized_margin,omitempty"` // margin / radius
	WidestPlane      *PlaneReport      `json:"widest,omitempty"`
	Perceptron       *perceptronReport `json:"perceptron,omitempty"`

	Witness []witnessRow  `json:"witness,omitempty"`
	Errors  *errorsReport `json:"errors,omitempty"`

	Passes     int64        `json:"passes"`     // passes over the rows until the verdict
	ExactRows  int64        `json:"exact_rows"` // rows whose side needed exact arithmetic
	Dtype      string       `json:"dtype"`
	ISA        string       `json:"isa"`
	Workers    int          `json:"workers"`
	IsStreamed bool         `json:"streamed"`
	Seconds    checkSeconds `json:"seconds"`
}

type checkSeconds struct {
	Load  float64 `json:"load"`
	Check float64 `json:"check"`
	Total float64 `json:"total"`
}

// A PlaneReport is a plane that separates the rows.
type PlaneReport struct {
	Margin       float64   `json:"margin"`
	MarginBound  *float64  `json:"margin_at_most"` // upper bound on the margin of any plane; null if none was found
	Weights      []float64 `json:"weights"`
	Bias         float64   `json:"bias"`
	ExactWeights []string  `json:"exact_weights,omitempty"` // integers, the bias last, if no float64 weights separate the rows
}

// A perceptronReport describes the short training before the search.
type perceptronReport struct {
	Epochs    int64    `json:"epochs"`
	Updates   int64    `json:"updates"`
	Converged bool     `json:"converged"`
	Errors    int64    `json:"errors"`
	Margin    *float64 `json:"margin,omitempty"`
	Angle     *float64 `json:"angle_degrees,omitempty"` // between the perceptron's weights and the plane of the largest margin
}

type errorsReport struct {
	AtLeast         int64  `json:"at_least"` // every plane errs on at least this many rows
	RestIsSeparable bool   `json:"complete"` // every further witness shares a row with the witnesses found
	FoundErrors     *int64 `json:"found"`    // errors of the best weights seen in the short training of the perceptron and the pocket
}

func newCheckReport(o *checkOptions, spec *schema.Spec, rows int64, found *separability.Result) *CheckReport {
	r := &CheckReport{Reason: found.Reason, IsVerified: found.Verdict != separability.Undecided, Rows: rows,
		Features: append([]string{}, spec.Features...), width: spec.Width(),
		Classes: spec.Classes, Positive: spec.Classes[spec.PositiveClass()], FitBias: spec.Bias,
		Radius: found.Radius, Passes: found.Passes, ExactRows: found.ExactRows,
		Dtype: model.Float32, ISA: kernel.Active().String(), Workers: o.Workers}
	r.advice = "leave out columns with --exclude (a plane for the rest is a plane for all), or use train --algo pocket"
	if !o.Data.Standardize {
		r.advice = "add --standardize, " + r.advice
	}
	if r.IsVerified {
		separates := found.Verdict == separability.Separable
		r.IsSeparable = &separates
	}
	if p := found.Perceptron; p != nil {
		r.Perceptron = &perceptronReport{Epochs: p.Epochs, Updates: p.Updates, Converged: p.Converged, Errors: p.Errors}
		if p.Margin > 0 {
			r.Perceptron.Margin = &p.Margin
		}
	}
	if plane := found.OriginPlane; plane != nil {
		r.PlaneReport, r.WidestPlane = newPlaneReport(plane, spec.Bias), newPlaneReport(found.WidestPlane, spec.Bias)
		r.MistakeBound = console.Finite(found.MistakeBound())
		r.NormalizedMargin = console.Finite(plane.Margin / r.Radius)
		if p := found.Perceptron; p != nil {
			r.Perceptron.Angle = console.Finite(angle(p.Weights, plane.Weights))
		}
	}
	if w := found.Witness; w != nil {
		for i, row := range w.Rows {
			weight, _ := w.Weights[i].Float64()
			r.Witness = append(r.Witness, witnessRow{row, w.Labels[i], w.Weights[i].String(), weight})
		}
		r.Errors = &errorsReport{AtLeast: found.Errors.AtLeast, RestIsSeparable: found.Errors.RestIsSeparable}
		if found.Errors.FoundErrors >= 0 {
			r.Errors.FoundErrors = &found.Errors.FoundErrors
		}
	}
	return r
}

func newPlaneReport(p *separability.Plane, bias bool) *PlaneReport {
	if p == nil {
		return nil
	}
	r := &PlaneReport{Margin: p.Margin, MarginBound: console.Finite(p.MarginBound), Weights: p.Weights}
	if bias {
		last := len(p.Weights) - 1
		r.Weights, r.Bias = p.Weights[:last], p.Weights[last]
	}
	for _, v := range p.ExactWeights {
		r.ExactWeights = append(r.ExactWeights, v.String())
	}
	return r
}

// angle returns the angle between two vectors in degrees; NaN if one is zero.
func angle(v []float32, w []float64) float64 {
	var vw, vv, ww float64
	for i := range v {
		x := float64(v[i])
		vw += x * w[i]
		vv += x * x
		ww += w[i] * w[i]
	}
	return math.Acos(max(-1, min(1, vw/math.Sqrt(vv)/math.Sqrt(ww)))) * 180 / math.Pi
}

func (r *CheckReport) sheet() *console.Sheet {
	s := new(console.Sheet)
	verdict := "undecided"
	switch {
	case r.IsSeparable != nil && *r.IsSeparable:
		verdict = "separable"
	case r.IsSeparable != nil:
		verdict = "not separable"
	}
	s.Line("%s: %s of %s, classes %s (positive: %s)\n", verdict, humanize.Plural(r.Rows, "row"),
		humanize.Plural(int64(max(r.width, len(r.Features))), "feature"), console.ClassNames(r.Classes), r.Positive)
	var pairs []string
	switch verdict {
	case "undecided":
		pairs = append(pairs, "reason", r.Reason, "next", r.advice)
	case "separable":
		pairs = append(pairs,
			"verified", fmt.Sprintf("all rows are on their side, exactly; floating point couldn't tell for %s",
				humanize.Count(r.ExactRows)),
			"margin", r.PlaneReport.text(", of the plane through the origin of features and bias"),
			"widest", r.WidestPlane.text(", the distance of the widest plane from the rows"))
		if r.PlaneReport.isBelowBound() || r.WidestPlane.isBelowBound() {
			pairs = append(pairs, "search", "cut short: other planes may have larger margins, up to the numbers in brackets")
		}
	}
	pairs = append(pairs, "numbers", "float32, as training holds the rows", "radius", humanize.Real(r.Radius)+", the largest norm of a row")
	if r.NormalizedMargin != nil {
		pairs = append(pairs, "normalized", humanize.Real(*r.NormalizedMargin)+", margin / radius")
	}
	if r.MistakeBound != nil {
		pairs = append(pairs, "bound", humanize.Bound(*r.MistakeBound)+
			" updates of the perceptron at most, in any order: (radius / margin)^2")
	}
	pairs = append(pairs, "perceptron", r.Perceptron.text(), "errors", r.Errors.text(),
		"passes", humanize.Count(r.Passes)+" over the rows until the verdict, those of the perceptron included",
		"time", fmt.Sprintf("load %s, check %s, total %s", humanize.Seconds(r.Seconds.Load),
			humanize.Seconds(r.Seconds.Check), humanize.Seconds(r.Seconds.Total)))
	s.Pairs(pairs...)
	if len(r.Witness) > 0 {
		s.Line("\nThe weighted sum of label * (features, bias) over these rows is zero, exactly:\n")
		rows := [][]string{{"row", "label", "weight"}}
		for _, w := range r.Witness {
			rows = append(rows, []string{strconv.FormatInt(w.Row, 10), fmt.Sprintf("%+d", w.Label), fraction(w.Weight)})
		}
		s.Table(rows)
		s.Line("\n--json prints the weights as fractions.")
	}
	return s
}

// fraction returns a fraction of at most 20 characters unchanged, and a longer one as a decimal number with a few
// digits.
func fraction(text string) string {
	if len(text) <= 20 {
		return text
	}
	if v, ok := new(big.Rat).SetString(text); ok {
		f, _ := v.Float64()
		return humanize.Real(f)
	}
	return text
}

// text returns the margin, its bound, then of. It returns "" if there is no plane.
func (p *PlaneReport) text(of string) string {
	switch {
	case p == nil:
		return ""
	case p.MarginBound == nil:
		return humanize.Real(p.Margin) + of
	}
	return fmt.Sprintf("%s (none is above %s)%s", humanize.Real(p.Margin), humanize.Real(*p.MarginBound), of)
}

// isBelowBound tells whether another plane may have a margin that is larger by more than a thousandth.
func (p *PlaneReport) isBelowBound() bool {
	return p != nil && p.MarginBound != nil && *p.MarginBound > 1.001*p.Margin
}

func (p *perceptronReport) text() string {
	if p == nil {
		return ""
	}
	s := fmt.Sprintf("%s in %s, ", humanize.Plural(p.Updates, "update"), humanize.Plural(p.Epochs, "epoch"))
	if p.Converged {
		s += "converged"
	} else {
		s += "not converged, " + humanize.Plural(p.Errors, "error")
	}
	if p.Margin != nil {
		s += ", margin " + humanize.Real(*p.Margin)
	}
	if p.Angle != nil {
		s += fmt.Sprintf(", %s degrees from the largest margin", humanize.Fixed(*p.Angle, 1))
	}
	return s
}

func (e *errorsReport) text() string {
	if e == nil {
		return ""
	}
	s := fmt.Sprintf("every plane errs on %s or more", humanize.Plural(e.AtLeast, "row"))
	if !e.RestIsSeparable {
		s += " (the search for more was cut short)"
	}
	if e.FoundErrors != nil {
		s += ", the best weights seen in a short training on " + humanize.Count(*e.FoundErrors)
	}
	return s
}

// page returns the verdict as an HTML page.
func (o *checkOptions) page(a *console.App, r *CheckReport, paths []string) *plot.Page {
	verdict := "Undecided: no plane and no witness were found."
	switch {
	case r.IsSeparable != nil && *r.IsSeparable:
		verdict = "A plane separates the classes. That is proved in exact arithmetic."
	case r.IsSeparable != nil:
		verdict = "No plane separates the classes. That is proved in exact arithmetic."
	}
	p := &plot.Page{Title: "Separable or not", Lead: verdict, Sections: []plot.Section{report.Result(r.sheet())}}
	picture := r.witnessFigure()
	if r.PlaneReport != nil && len(r.Features) > 0 {
		if picture = plot.Weights(&model.Model{Features: r.Features, Weights: [][]float64{r.Weights}}, 0); picture != nil {
			picture.Title, picture.Subtitle = "Weights of the plane", "of the largest margin, of features as they are"
		}
	}
	if picture != nil {
		p.Sections = append(p.Sections, plot.Section{Heading: "Plots", Figures: []*plot.Figure{picture}})
	}
	data := [][2]string{{"rows", humanize.Count(r.Rows)}}
	for _, c := range r.Classes {
		data = append(data, [2]string{"class", c.Text})
	}
	p.Sections = append(p.Sections, report.Data(a, paths, data), o.reporting.OptionsSection(),
		o.reporting.RepeatSection([2]string{"numbers", fmt.Sprintf("%s, %s", r.Dtype, r.ISA)}))
	return p
}

type witnessRow struct {
	Row    int64  `json:"row"`
	Label  int    `json:"label"`  // -1 or +1
	Weight string `json:"weight"` // a fraction
	weight float64
}

// witnessFigure draws the witness. It returns nil if there is none.
func (r *CheckReport) witnessFigure() *plot.Figure {
	if len(r.Witness) == 0 {
		return nil
	}
	var rows []int64
	var labels []int
	var weights []float64
	for _, w := range r.Witness {
		rows, labels, weights = append(rows, w.Row), append(labels, w.Label), append(weights, w.weight)
	}
	names := [2]string{r.Classes[0].Text, r.Positive.Text}
	if r.Classes[0].Text == r.Positive.Text {
		names[0] = r.Classes[1].Text
	}
	if len(r.Classes) > 2 {
		names[0] = "other classes"
	}
	return plot.Witness(rows, labels, weights, names)
}
