package report

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"halfspace/cmd/internal/console"
	"halfspace/cmd/internal/flags"
	"halfspace/internal/files"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/internal/model"
	"halfspace/plot"
	"halfspace/schema"
)

type plotOptions struct {
	flags.Machine
	data   flags.Data
	memory flags.Size
	models []string
	class  string
	trace  string
	theme  string
	out    string
}

// A kind is a kind of picture that plot draws.
type kind struct {
	name, help             string
	needsData, needsModels bool // it needs data, or a model
	takesModels            bool // it takes several models
	showsClass             bool // it shows one class if there are several
	draw                   func(p *picture) (*plot.Figure, error)
}

// A picture is the picture to draw, with its options and models.
type picture struct {
	*console.App
	*plotOptions
	ctx          context.Context
	args         []string // files after the kind
	loadedModels []*model.Model
}

func kinds() []kind {
	return []kind{
		{name: "trace", help: "a trace of train: norm and bounds of a perceptron, objective of others", showsClass: true,
			draw: (*picture).learning},
		{name: "errors", help: "a trace of a pocket: errors after each update", showsClass: true, draw: (*picture).errors},
		{name: "weights", help: "weights of a model, with intervals where it has standard errors", needsModels: true,
			showsClass: true, draw: (*picture).weights},
		{name: "alphas", help: "dual coefficients of the rows that a dual model is made of", needsModels: true,
			showsClass: true, draw: (*picture).alphas},
		{name: "roc", help: "ROC curves", needsData: true, needsModels: true, takesModels: true, draw: (*picture).roc},
		{name: "pr", help: "precision-recall curves", needsData: true, needsModels: true, takesModels: true,
			draw: (*picture).precisionRecall},
		{name: "calibration", help: "predicted probabilities against what came true", needsData: true, needsModels: true,
			draw: (*picture).calibration},
		{name: "margins", help: "histogram of the margins of rows", needsData: true, needsModels: true, draw: (*picture).margins},
		{name: "line", help: "rows of two features with the line; with --trace every line on the way", needsData: true,
			needsModels: true, draw: (*picture).line},
	}
}

func Plot(a *console.App) *cobra.Command {
	var o plotOptions
	long := "Plot draws a plot as SVG. KIND is one of these:\n\n"
	var names []string
	for _, k := range kinds() {
		long += fmt.Sprintf("  %-13s%s\n", k.name, k.help)
		names = append(names, k.name)
	}
	cmd := &cobra.Command{
		Use:   "plot KIND [FILE...] --out plot.svg [options]",
		Short: "Draw a trace, a model, or how good a model is",
		Long: long + `
trace and errors take the file of train --trace. The others take --model, and
all but weights and alphas take labelled data too. An SVG follows the reader's
light or dark mode. The colours suit colour-blind eyes.`,
		Example: "  halfspace train examples/iris-setosa.parquet --label setosa --algo perceptron --trace t.csv " +
			"--reference check --out iris.json\n" +
			`  halfspace plot trace t.csv --out trace.svg
  halfspace plot weights --model iris.json --out weights.svg
  halfspace plot roc examples/iris-setosa.parquet --model iris.json --out roc.svg`,
		ValidArgs: names,
	}
	f := cmd.Flags()
	f.StringVarP(&o.out, "out", "o", "", "`FILE` Write the plot to this file, which ends in .svg. (required)")
	f.StringArrayVar(&o.models, "model", nil, "`FILE` Model to draw. roc and pr take several: give --model again.")
	o.data.AddLabels(cmd)
	f.StringVar(&o.data.Label, "label", "", "`COLUMN` Column with the classes. (default the label's name in training)")
	f.StringVar(&o.class, "class", "", "`CLASS` Draw the weights, or the trace, of this class of several. (default the first)")
	f.StringVar(&o.trace, "trace", "", "`FILE` With line: draw every line on the way, as train --trace wrote them, one after another.")
	flags.AddChoice(cmd, &o.theme, "theme", "`page|light|dark` Colours: as the reader's system asks for (page), or fixed.", plot.Themes...)
	o.data.AddText(cmd)
	o.memory.AddTo(cmd)
	o.Machine.AddTo(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return run(a, cmd, &o, args, names) }
	return cmd
}

func run(a *console.App, cmd *cobra.Command, o *plotOptions, args, names []string) error {
	if len(args) == 0 {
		return console.Usagef("no kind of picture: use plot %s", humanize.OneOf(names))
	}
	at := slices.Index(names, args[0])
	if at < 0 {
		if near := console.DidYouMean(args[0], names); near != "" {
			return console.Usagef("unknown picture %q%s Or use %s", args[0], near, humanize.OneOf(names))
		}
		return console.Usagef("unknown picture %q: use %s", args[0], humanize.OneOf(names))
	}
	k, p := kinds()[at], &picture{App: a, plotOptions: o, ctx: cmd.Context(), args: args[1:]}
	if err := p.check(&k); err != nil {
		return err
	}
	figure, err := k.draw(p)
	if err != nil {
		return err
	}
	return files.Replace(p.ctx, p.out, []byte(figure.SVG(plot.Theme(p.theme))))
}

// check returns an error if an option can't be used, and loads the models.
func (p *picture) check(k *kind) error {
	needs := k.needsData || !k.needsModels
	switch {
	case p.out == "":
		return console.Usagef("--out is missing: name the file of the picture, such as %s.svg", k.name)
	case strings.ToLower(filepath.Ext(p.out)) != ".svg":
		return console.Usagef("--out %s: pictures are SVG: name a file that ends in .svg", p.out)
	case k.needsModels && len(p.models) == 0:
		return console.Usagef("plot %s needs --model: name the file of a model", k.name)
	case !k.needsModels && len(p.models) > 0:
		return console.Usagef("plot %s takes no --model: name the file of train --trace", k.name)
	case len(p.models) > 1 && !k.takesModels:
		return console.Usagef("plot %s takes one model: name one with --model", k.name)
	case needs && len(p.args) == 0:
		return console.Usagef("plot %s needs a file: %s", k.name,
			map[bool]string{true: "name labelled data", false: "name what train --trace wrote"}[k.needsData])
	case !k.needsData && len(p.args) > 1:
		return console.Usagef("plot %s takes one trace: leave out %s", k.name, strings.Join(p.args[1:], " "))
	case !needs && len(p.args) > 0:
		return console.Usagef("plot %s takes no data: leave out %s", k.name, p.args[0])
	case len(p.models) > 1 && slices.Contains(p.args, "-"):
		return console.Usagef("%d models: standard input can be read once, name one model or save the data to a file", len(p.models))
	case p.trace != "" && k.name != "line":
		return console.Usagef("--trace is for plot line: leave it out")
	case p.class != "" && !k.showsClass:
		return console.Usagef("--class is for plot trace, errors, weights and alphas: leave it out")
	case p.data.Labels != "" && !k.needsData:
		return console.Usagef("--labels is for pictures of data, and plot %s takes none: leave it out", k.name)
	case p.data.Label != "" && !k.needsData:
		return console.Usagef("--label is for pictures of data, and plot %s takes none: leave it out", k.name)
	}
	if err := cmp.Or(p.data.Check(), p.Machine.Apply()); err != nil {
		return err
	}
	inputs := slices.Concat(p.models, []string{p.trace})
	if k.needsData {
		paths, err := p.data.Expand(p.ctx, p.args, p.Warn)
		if err != nil {
			return err
		}
		p.args, inputs = paths, append(inputs, paths...)
	} else {
		inputs = append(inputs, p.args...)
	}
	for _, path := range p.models {
		m, err := console.LoadModel(p.ctx, path, p.memory.Limit()/int64(2*len(p.models)))
		if err != nil {
			return err
		}
		if n := len(m.Classes); k.needsData && n > 2 {
			return console.Usagef("%s has %d classes, and plot %s takes two: name a model of two, or draw the "+
				"weights of one class with plot weights --class CLASS", path, n, k.name)
		}
		p.loadedModels = append(p.loadedModels, m)
	}
	return console.Claim(p.App, p.out, inputs)
}

// table reads the trace. If the trace has several trainings, it returns the columns of one class, and this class;
// otherwise class is "".
func (p *picture) table(path string) (columns map[string][]float64, class string, err error) {
	t, err := ReadTrace(p.ctx, path, max(leastFigureBytes, p.memory.Limit()/2))
	if err != nil {
		return nil, "", err
	}
	if t.Classes == nil {
		if p.class != "" {
			return nil, "", console.Usagef("--class %s: %s is of one training: leave out --class", p.class, path)
		}
		return t.Columns, "", nil
	}
	class = cmp.Or(p.class, t.Classes[0])
	if !slices.Contains(t.Classes, class) {
		return nil, "", fmt.Errorf("%s: no class is %q: use %s", path, class, humanize.OneOf(slices.Compact(slices.Clone(t.Classes))))
	}
	one := map[string][]float64{}
	for name, values := range t.Columns {
		for i, v := range values {
			if t.Classes[i] == class {
				one[name] = append(one[name], v)
			}
		}
	}
	return one, class, nil
}

// drawTrace draws the trace. The title names the class if there are several trainings. The trace has lacks, in the
// error, if draw returns nil.
func (p *picture) drawTrace(draw func(columns map[string][]float64) *plot.Figure, lacks string) (*plot.Figure, error) {
	columns, class, err := p.table(p.args[0])
	if err != nil {
		return nil, err
	}
	f := draw(columns)
	if f == nil {
		return nil, fmt.Errorf("%s: the trace has %s", p.args[0], lacks)
	}
	if class != "" {
		f.Title += ": class " + class
	}
	return f, nil
}

func (p *picture) learning() (*plot.Figure, error) {
	return p.drawTrace(plot.Learning, "neither norms nor an objective: trace a perceptron, logistic or svm")
}

func (p *picture) errors() (*plot.Figure, error) {
	return p.drawTrace(plot.Errors, "no errors: trace --algo pocket")
}

// vector returns the number of the weight vector that --class names. several is the model's number of weight vectors.
func (p *picture) vector(several int) (int, error) {
	m := p.loadedModels[0]
	if p.class == "" {
		return 0, nil
	}
	if several == 1 {
		return 0, console.Usagef("--class %s: the model has the same weights for both classes: leave out --class", p.class)
	}
	at := slices.IndexFunc(m.Classes, func(c schema.Class) bool { return c.Text == p.class })
	if at < 0 {
		return 0, console.Usagef("--class %s: the model has no such class: use one of %s", p.class, schema.ListClasses(m.Classes))
	}
	return at, nil
}

func (p *picture) weights() (*plot.Figure, error) {
	m := p.loadedModels[0]
	class, err := p.vector(len(m.Weights))
	if err != nil {
		return nil, err
	}
	if f := plot.Weights(m, class); f != nil {
		return f, nil
	}
	instead := "train --algo averaged"
	if m.Expansion != nil {
		instead = "draw its dual coefficients with plot alphas"
	}
	return nil, message.Errorf("%s: a model of --algo %s has no weights of features: %s", p.models[0], m.Algorithm, instead)
}

func (p *picture) alphas() (*plot.Figure, error) {
	m, class := p.loadedModels[0], 0
	if m.Expansion != nil {
		var err error
		if class, err = p.vector(len(m.Expansion.Coefficients)); err != nil {
			return nil, err
		}
	}
	if f := plot.Alphas(m, class); f != nil {
		if m.Expansion == nil && p.class != "" {
			return nil, console.Usagef("--class %s: the model counts the updates of a row for all classes together: "+
				"leave out --class", p.class)
		}
		return f, nil
	}
	return nil, message.Errorf("%s: the model has no dual coefficients: train --algo dual or kernel-perceptron, or "+
		"draw plot weights", p.models[0])
}

// planes reads a trace: the weights after each update, with the number of the update and of the row that made it (-1 if
// unknown).
func (p *picture) planes(m *model.Model) (path [][3]float64, updates, rows []int, err error) {
	columns, _, err := p.table(p.trace)
	if err != nil {
		return nil, nil, nil, err
	}
	var w [3][]float64
	for i, name := range WeightColumns(m.Spec(), false) {
		w[i] = columns[name]
	}
	if w[0] == nil || w[1] == nil {
		return nil, nil, nil, fmt.Errorf("%s: the trace has no weights of %s and %s: trace a training of this "+
			"model's features", p.trace, m.FeatureName(0), m.FeatureName(1))
	}
	for i := range w[0] {
		at := [3]float64{w[0][i], w[1][i]}
		if w[2] != nil {
			at[2] = w[2][i]
		}
		row := -1
		if r := columns["row"]; r != nil && !math.IsNaN(r[i]) {
			row = int(r[i])
		}
		path, updates, rows = append(path, at), append(updates, int(columns["update"][i])), append(rows, row)
	}
	return path, updates, rows, nil
}
