package cli

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"halfspace/internal/train"
	"halfspace/train/learner"
)

// TestOnlineHalves: for every learner of online and every value of its options, a run over the first half of the rows and
// a run from its model over the second half give the model of one run, with no option typed again. Each option is
// tried alone, and all options together.
func TestOnlineHalves(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	dir := halfTables(t, rng)
	for _, name := range append([]string{"perceptron"}, train.Names(train.HasStepper)...) {
		var options []learner.Option
		for _, o := range train.Describe(name).Options {
			if !slices.Contains([]string{"order", "epochs", "max-updates", "shards", "mix"}, o.Name) && (name != "perceptron" || o.Name == "eta") {
				options = append(options, o)
			}
		}
		if len(options) == 0 {
			t.Fatalf("%s has no option", name)
		}
		trials := [][]string{nil, {"--no-bias"}}
		for _, o := range options {
			for _, value := range valuesOf(&o, name) {
				trials = append(trials, append(conditionOf(&o), "--"+o.Name, value))
			}
		}
		for range 6 {
			trial := [][]string{nil, {"--no-bias"}}[rng.IntN(2)]
			for _, o := range options {
				values := valuesOf(&o, name)
				trial = append(trial, "--"+o.Name, values[rng.IntN(len(values))])
			}
			trials = append(trials, trial)
		}
		for _, classes := range []string{"two", "three"} {
			if name == "perceptron" && classes == "three" {
				continue
			}
			distinct := map[string]bool{}
			for _, trial := range trials {
				distinct[checkHalves(t, dir, classes, append([]string{"--algo", name}, trial...))] = true
			}
			if len(distinct) < len(options)+2 {
				t.Errorf("%s, %s classes: %d trials gave %d models: too few options have an effect", name, classes, len(trials), len(distinct))
			}
		}
	}
}

// halfTables writes rows of two and of three classes, whole and in halves.
func halfTables(t *testing.T, rng *rand.Rand) (dir string) {
	files := map[string]string{}
	for _, classes := range []int{2, 3} {
		var lines []string
		for range 401 {
			x := []float64{rng.NormFloat64(), 3 * rng.NormFloat64(), rng.Float64()}
			class := int(math.Abs(x[0]+x[1]/2+rng.NormFloat64())) % classes
			lines = append(lines, fmt.Sprintf("%.4g,%.4g,%.4g,%c\n", x[0], x[1], x[2], 'a'+class))
		}
		name := []string{"two", "three"}[classes-2]
		for part, rows := range map[string][]string{"": lines, ".1": lines[:163], ".2": lines[163:]} {
			files[name+part+".csv"] = "u,v,w,y\n" + strings.Join(rows, "")
		}
	}
	return text(t, files)
}

// conditionOf returns options with which an option has an effect.
func conditionOf(o *learner.Option) []string {
	if o.Condition == nil || o.Condition.Except {
		return nil
	}
	return []string{"--" + o.Condition.Option, o.Condition.Values[0]}
}

// valuesOf returns values of an option that differ from its default.
func valuesOf(o *learner.Option, name string) (values []string) {
	byDefault := o.Text(train.Describe(name).New())
	candidates := slices.Clone(o.Words)
	if len(candidates) == 0 {
		candidates = []string{"true", "false", "0", "0.03125", "0.3", "1", "2.5", "7"}
	}
	for _, value := range candidates {
		_, err := strconv.ParseFloat(value, 64)
		l, _ := train.LearnerNamed(name)
		if (o.Value != "BOOL" || err != nil) && value != byDefault {
			if _, wrong := l.With(o.Name, value); wrong == nil {
				values = append(values, value)
			}
		}
	}
	return values
}

// checkHalves compares one run with two halves, and returns the weights as a text.
func checkHalves(t *testing.T, dir, classes string, options []string) string {
	t.Helper()
	in := func(name string) string { return filepath.Join(dir, name) }
	online := func(args ...string) { succeed(t, append([]string{"online"}, args...)...) }
	online(append([]string{in(classes + ".csv"), "--label", "y", "--out", in("one.json")}, options...)...)
	online(append([]string{in(classes + ".1.csv"), "--label", "y", "--out", in("half.json")}, options...)...)
	online(in(classes+".2.csv"), "--label", "y", "--model", in("half.json"), "--out", in("two.json"))
	one, two := loadedModel(t, in("one.json")), loadedModel(t, in("two.json"))
	for what, pair := range map[string][2]any{"weights": {one.Weights, two.Weights}, "biases": {one.Bias, two.Bias}, "states": {one.State, two.State},
		"options": {one.Options, two.Options}} {
		if !reflect.DeepEqual(pair[0], pair[1]) {
			t.Errorf("%v, %s classes: the %s of one run are %v, of two halves %v", options, classes, what, pair[0], pair[1])
		}
	}
	return fmt.Sprint(one.Weights, one.Bias)
}
