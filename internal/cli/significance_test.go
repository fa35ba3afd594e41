package cli

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"halfspace/internal/say"
)

// beyond integrates the normal density outside of -z to z by Simpson's rule.
func beyond(z float64) float64 {
	const steps = 20_000
	h, sum := 2*z/steps, 0.0
	for i := range steps + 1 {
		x, factor := -z+float64(i)*h, 2.0
		switch {
		case i == 0 || i == steps:
			factor = 1
		case i%2 == 1:
			factor = 4
		}
		sum += factor * math.Exp(-x*x/2)
	}
	return 1 - sum*h/3/math.Sqrt(2*math.Pi)
}

// TestSignificance: inspect tells p-values and intervals of 95 % beside z. Standard errors are robust where weights aren't numbers of like
// rows: then they don't depend on the unit of the weights.
func TestSignificance(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	var b strings.Builder
	b.WriteString("x,z,n,w,y\n")
	for range 300 {
		x, z := rng.NormFloat64(), rng.NormFloat64()
		y := 0
		if x+0.2*z+2*rng.NormFloat64() > 1 {
			y = 1
		}
		fmt.Fprintf(&b, "%.4f,%.4f,%d,%.3f,%d\n", x, z, 1+rng.IntN(3), 0.1+rng.Float64(), y)
	}
	dir := text(t, map[string]string{"x.csv": b.String()})
	model := filepath.Join(dir, "m.json")
	learn := func(options string) (r map[string]any, errors []float64, shown string) {
		t.Helper()
		succeed(t, append([]string{"train", filepath.Join(dir, "x.csv"), "--label", "y", "--features", "x,z", "--algo", "logistic", "--l2", "0", "--out", model}, strings.Fields(options)...)...)
		return decode(t, "inspect", model, "--json"), loadedModel(t, model).StdErrors, succeed(t, "inspect", model)
	}
	r, plain, shown := learn("")
	m := loadedModel(t, model)
	for i, w := range append(slices.Clone(m.Weights[0]), m.Bias...) {
		z, p := r["z"].([]any)[i].(float64), r["p_values"].([]any)[i].(float64)
		interval := r["confidence_95"].([]any)[i].([]any)
		low, high := interval[0].(float64), interval[1].(float64)
		if z != w/plain[i] || math.Abs(p-beyond(math.Abs(z))) > 1e-9 || math.Abs(beyond((high-w)/plain[i])-0.05) > 1e-9 || math.Abs(low+high-2*w) > 1e-12 {
			t.Errorf("weight %v, standard error %v: z %v, p %v, from %v to %v", w, plain[i], z, p, low, high)
		}
		if !strings.Contains(shown, say.Real(low)) || !strings.Contains(shown, say.Real(high)) {
			t.Errorf("no interval from %v to %v in\n%s", low, high, shown)
		}
	}
	for options, robust := range map[string]bool{"": false, "--class-weight 0=1": false, "--sample-weight n": false, "--sample-weight w": true, "--class-weight 1=2": true,
		"--class-weight balanced": true, "--sample-weight n --class-weight 0=3": true} {
		r, _, shown := learn(options)
		if r["robust"] != nil != robust || strings.Contains(shown, "robust (the sandwich estimator)") != robust {
			t.Errorf("%s: robust %v in\n%s", options, r["robust"], shown)
		}
	}
	_, once, _ := learn("--class-weight 0=1.5,1=3")
	_, more, _ := learn("--class-weight 0=15,1=30")
	_, twice, _ := learn("--class-weight 0=2,1=2")
	for i := range once {
		if math.Abs(more[i]/once[i]-1) > 1e-6 {
			t.Errorf("weight %d: standard error %v, with ten times the weights %v", i, once[i], more[i])
		}
		if math.Abs(twice[i]/plain[i]-1) > 0.25 {
			t.Errorf("weight %d: standard error %v, with all classes weighing 2 %v", i, plain[i], twice[i])
		}
	}
	succeed(t, "train", filepath.Join(dir, "x.csv"), "--label", "n", "--features", "x,z", "--algo", "logistic", "--multiclass", "ovr", "--class-weight", "2=3", "--out", model)
}
