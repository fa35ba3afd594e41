package plot

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"halfspace/internal/model"
	"halfspace/internal/require"
	"halfspace/metrics"
	"halfspace/schema"
)

// elements returns the elements of a picture, and fails unless a parser of XML reads it to its end, every number is
// finite, and nothing but itself is referred to.
func elements(t *testing.T, picture string) map[string]int {
	t.Helper()
	found, all, _ := parseSVG(t, picture)
	for _, e := range all {
		for _, a := range e.Attr {
			if strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") || a.Name.Local == "href" {
				t.Errorf("%s has %s=%q", e.Name.Local, a.Name.Local, a.Value)
			}
		}
	}
	if found["title"] != 1 || found["desc"] != 1 || found["script"] > 0 {
		t.Errorf("elements %v", found)
	}
	return found
}

const hostile = `<script>alert("&'")</script><img src=x onerror=y>` + "\x00\u202e"

// figures returns one of each kind, with hostile names.
func figures() map[string]*Figure {
	nan := math.NaN()
	m := &model.Model{Features: []string{hostile, "b"}, Weights: [][]float64{{2, -1}}, Bias: []float64{0}, StdErrors: []float64{0.5, 0.1}, Classes: []schema.Class{schema.StringClass("a"), schema.StringClass("b")}}
	grouped := &model.Model{Weights: [][]float64{{2, -1, 0.5}}, Preprocessing: &schema.Preprocessing{Columns: []schema.Column{{Name: hostile, Kind: schema.OneHotColumn, Categories: []string{"a", hostile}}, {Name: "b", Kind: schema.NumberColumn}}}}
	points := []metrics.Point{{Threshold: math.Inf(1)}, {Threshold: 1, TruePositives: 2}, {Threshold: 0, FalsePositives: 3, TruePositives: 4}}
	rows := &Rows{X: []float64{0, 1, 2}, Y: []float64{1, 0, 2}, Positive: []bool{true, false, true}, Names: [2]string{hostile, "y"}, Classes: [2]string{hostile, "+"},
		Weights: [3]float64{1, 1, -1}, Path: [][3]float64{{0, 0, 1}, {1, 0, -1}, {1, 1, -1}}, Updates: []int{50, 100, 150}, VisitedRows: []int{0, -1, 7}}
	return map[string]*Figure{
		"roc": ROC(Curve{Name: hostile, Points: points, Figure: 0.5}, Curve{Points: points, Figure: nan}), "pr": PrecisionRecall(Curve{Points: points, Figure: 0.4}),
		"calibration": Calibration([]metrics.Bin{{Rows: 0, Probability: nan, Share: nan}, {Rows: 4, Weight: 4, Probability: 0.15, Share: 0.25, Interval: metrics.Wilson(0.25, 4)}}),
		"confusion":   Confusion([]schema.Class{schema.StringClass(hostile), schema.IntClass(1), schema.StringClass("")}, confused(3)),
		"alphas":      Alphas(kernelModel([]float32{2, 0, -5}), 0), "many alphas": Alphas(kernelModel(make([]float32, 100), slices.Repeat([]float32{1, -2}, 50)), 1),
		"margins": Margins([]float64{-1, 0, 0.5, 2, nan}, make([]bool, 5)), "no margins": Margins(nil, nil), "weights": Weights(m, 0), "plane": Plane(rows),
		"learning": Learning(map[string][]float64{"update": {1, 2}, "norm": {1, 1.5}, "upper": {2, 3}, "dot": {1, 1}, "lower": {nan, nan}}),
		"one":      Learning(map[string][]float64{"update": {1}, "norm": {1}, "upper": {nan}}),
		"passes":   Learning(map[string][]float64{"update": {0, 1}, "pass": {1, 2}, "objective": {nan, 10}, "gap": {nan, 0}, "gradient": {nan, nan}}),
		"samples":  Samples([]float64{10, 100}, []int64{5, 1}, []int64{10, 10}), "grouped": Weights(grouped, 0),
		"errors": Errors(map[string][]float64{"update": {1, 2, 3}, "errors": {5, 7, 4}}), "best": KeptErrors([]float64{0, 3}, []float64{9, 2})}
}

// TestFigures: each kind is an SVG in each theme, without a number that is none and with every name escaped.
func TestFigures(t *testing.T) {
	for name, f := range figures() {
		for _, theme := range Themes {
			elements(t, f.SVG(Theme(theme)))
		}
		if inline := f.picture().svg("x", ""); strings.Contains(inline, "<script") || strings.Contains(inline, "<style") || f.Text == "" {
			t.Errorf("%s: %s", name, inline)
		}
	}
	if found := elements(t, figures()["plane"].SVG(AutoTheme)); found["set"] != 3 || found["circle"] != 2+1+1 {
		t.Errorf("the animation has %v", found)
	}
	if plane := figures()["plane"].SVG(AutoTheme); !strings.Contains(plane, ">update 50<") || !strings.Contains(plane, "after 3 of 150 updates") {
		t.Error("the animation doesn't number the updates as the trace does")
	}
	if f := Calibration([]metrics.Bin{{Rows: 3, Probability: math.NaN(), Share: math.NaN()}}); f.Text != "" || len(f.Series) != 3 {
		t.Errorf("rows of the weight 0 are drawn: %s", f.Text)
	}
	for _, f := range []*Figure{Learning(map[string][]float64{}), Errors(map[string][]float64{}), KeptErrors(nil, nil), Weights(&model.Model{}, 0)} {
		if f != nil {
			t.Errorf("there is a figure %q of nothing", f.Title)
		}
	}
}

// reads returns the number that a label stands for.
func reads(t *testing.T, l tick) float64 {
	t.Helper()
	number := func(s string) float64 {
		v, err := strconv.ParseFloat(strings.NewReplacer("−", "-", ",", "").Replace(s), 64)
		require.NoError(t, err)
		return v
	}
	if l.power != "" {
		return math.Pow(number(l.text), number(l.power))
	}
	return number(l.text)
}

// TestRestart: of a solver that begins again at the first weights, the passes after that are drawn.
func TestRestart(t *testing.T) {
	nan := math.NaN()
	columns := map[string][]float64{"pass": {1, 2, 3, 4, 5}, "norm": {nan, nan, nan, nan, nan}, "objective": {100, 20, 100, 15, 10}, "gradient": {9, 8, 9, 3, 1}}
	f := Learning(columns)
	if len(f.Series) != 2 || !slices.Equal(f.Series[0].X, []float64{3, 4, 5}) || len(f.Series[1].Y) != 3 || !strings.Contains(f.Subtitle, "from pass 3 on") {
		t.Errorf("%+v", f)
	}
	columns["objective"] = []float64{100, 20, 30, 15, 10}
	if f := Learning(columns); len(f.Series[0].X) != 5 || strings.Contains(f.Subtitle, "from pass") {
		t.Errorf("without a restart: %+v", f)
	}
}

// TestInside: no picture has anything at its edges, so that nothing is cut off.
func TestInside(t *testing.T) {
	all := figures()
	wide := strings.Repeat("W", 200)
	all["wide"] = &Figure{Title: wide, Subtitle: wide, X: Axis{Name: wide, From: 1e9, To: 1.2e9}, Y: Axis{Name: wide, From: -1e9, To: 1e9}, Series: []Series{{Name: wide, X: []float64{1e9}, Y: []float64{0}}}}
	all["names"] = &Figure{X: Axis{Name: "x"}, Y: Axis{Names: []string{wide, wide}}, Series: []Series{{Name: wide, Shape: Ranges, X: []float64{1}, Y: []float64{0}, Low: []float64{0}, High: []float64{2}}}}
	all["many"] = ROC(slices.Repeat([]Curve{{Name: wide, Points: []metrics.Point{{}, {TruePositives: 1, FalsePositives: 1}}}}, 30)...)
	all["many"].Subtitle = strings.Repeat("many words ", 100)
	for name, f := range all {
		const least = 50 // pixels of a plot
		p := f.picture()
		if at := slices.IndexFunc(p.Elements, func(s element) bool { _, ok := s.(*clip); return ok }); at < 0 {
			t.Errorf("%s has no plot", name)
		} else if b := p.Elements[at].(*clip).Box; min(b.Width, b.Height, b.X, b.Y) < 0 || min(b.Width, b.Height) < least || b.X+b.Width > p.Width || b.Y+b.Height > p.Height {
			t.Errorf("%s of %g by %g pixels has the plot %v", name, p.Width, p.Height, b)
		}
		const edge = 3
		inside := func(x0, y0, x1, y1 float64) {
			if x0 < edge || y0 < edge || x1 > p.Width-edge || y1 > p.Height-edge {
				t.Errorf("%s of %g by %g pixels has a shape from %g, %g to %g, %g", name, p.Width, p.Height, x0, y0, x1, y1)
			}
		}
		for _, s := range p.Elements {
			switch s := s.(type) {
			case *path:
				for _, at := range s.Points {
					inside(at[0], at[1], at[0], at[1])
				}
			case *disc:
				inside(s.X-s.Radius, s.Y-s.Radius, s.X+s.Radius, s.Y+s.Radius)
			case *text:
				size := cmp.Or(s.Size, 12)
				long := 0.45 * size * float64(len([]rune(s.String))) // the mean width of letters in a sentence
				from := -long * float64(s.Anchor) / 2
				if s.IsTurned {
					inside(s.X-size, s.Y-from-long, s.X, s.Y-from)
				} else {
					inside(s.X+from, s.Y-size, s.X+from+long, s.Y)
				}
			}
		}
	}
}

// TestLineEnds: a line is where its numbers are, in the SVG, and ends there.
func TestLineEnds(t *testing.T) {
	f := &Figure{Title: "t", X: Axis{From: 0, To: 10}, Y: Axis{From: -2, To: 2}, Series: []Series{{Colour: 1, X: []float64{2, 8}, Y: []float64{-1, 1}}}}
	p := f.picture()
	var frame, line *path
	for _, s := range p.Elements {
		if clip, ok := s.(*clip); ok {
			line = clip.Elements[0].(*path)
		}
		if path, ok := s.(*path); ok && len(path.Points) == 3 {
			frame = path // the axes: from the left upper corner by the left lower to the right lower one
		}
	}
	at := func(x, y float64) [2]float64 {
		corner, right, top := frame.Points[1], frame.Points[2][0], frame.Points[0][1]
		return [2]float64{corner[0] + x/10*(right-corner[0]), corner[1] + (y+2)/4*(top-corner[1])}
	}
	ends := [][2]float64{at(2, -1), at(8, 1)}
	for i, want := range ends {
		if got := line.Points[i]; math.Hypot(got[0]-want[0], got[1]-want[1]) > 1e-9 {
			t.Errorf("the line has the point %v, want %v", got, want)
		}
	}
	var x0, y0, x1, y1 float64
	svg := f.SVG(LightTheme)
	at0 := strings.Index(svg, `class="hp-l-1"`)
	if n, err := fmt.Sscanf(svg[strings.LastIndex(svg[:at0], `d="`):], `d="M%f %fL%f %f"`, &x0, &y0, &x1, &y1); n != 4 {
		t.Fatal(err)
	}
	for i, got := range [][2]float64{{x0, y0}, {x1, y1}} {
		if math.Abs(got[0]-ends[i][0]) > 0.051 || math.Abs(got[1]-ends[i][1]) > 0.051 {
			t.Errorf("the SVG's line has the point %v, want %v", got, ends[i])
		}
	}
}

// TestTicks: for any range there are some ticks, inside, with different texts that stand for them. Those of a logarithmic axis stand
// for different powers of ten.
func TestTicks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	raised := 0
	for k := range 4000 {
		from := rng.NormFloat64() * math.Pow(10, float64(rng.IntN(7)-3))
		a := Axis{From: from, To: from + rng.Float64()*math.Pow(10, float64(rng.IntN(7)-3)) + math.Abs(from)*1e-3}
		least, most := 3, 12
		if k%2 == 0 {
			from = 8 * rng.NormFloat64()
			a = Axis{From: from, To: from + math.Pow(10, 3*rng.Float64()-2), Log: true}
			least, most = 2, 20
		}
		a.fit(!a.Log || rng.IntN(2) == 0)
		wide, ticks := a.To-a.From, a.ticks()
		near := a.tickDistance() / 3
		if a.Log {
			near = wide / 20
		}
		if len(ticks) < least || len(ticks) > most {
			t.Fatalf("%d ticks from %v to %v", len(ticks), a.From, a.To)
		}
		for i, tick := range ticks {
			if tick.at < a.From-wide*1e-6 || tick.at > a.To+wide*1e-6 || i > 0 && (tick.at <= ticks[i-1].at || tick.text == ticks[i-1].text && tick.power == ticks[i-1].power) {
				t.Fatalf("ticks %v from %v to %v", ticks, a.From, a.To)
			}
			read := reads(t, tick)
			if a.Log {
				read = math.Log10(read)
			}
			if math.Abs(read-tick.at) > near {
				t.Fatalf("%v is written %v", tick.at, tick)
			}
			if tick.power != "" {
				raised++
			}
		}
	}
	if raised < 1000 {
		t.Errorf("%d powers of ten were tried", raised)
	}
}

// TestExtremes: numbers that are as close or as far apart as a float64 allows make a picture with few ticks.
func TestExtremes(t *testing.T) {
	const nanoseconds = 1700000000000000000.0
	tiny, huge := math.SmallestNonzeroFloat64, math.MaxFloat64
	for _, values := range [][]float64{
		{nanoseconds, nanoseconds + 256, nanoseconds + 512}, {1, math.Nextafter(1, 2)}, {-huge, huge}, {huge, huge}, {0, tiny}, {-tiny, tiny}, {0, 1e-300}, {tiny, huge}, {1e15, 1e15 + 2000},
	} {
		f := &Figure{Series: []Series{{X: values, Y: values}}}
		elements(t, f.SVG(AutoTheme))
		x, y := f.ranges()
		for _, a := range []Axis{x, y} {
			if n := len(a.ticks()); n < 2 || n > 12 {
				t.Errorf("%v: %d ticks from %v to %v", values, n, a.From, a.To)
			}
		}
	}
}

// TestMargins: a bar has right rows or wrong ones. The rows with the score 0 are right or wrong as the model predicts.
func TestMargins(t *testing.T) {
	f := Margins([]float64{-1e-12, 0, 0, 0, 1e-12, -1, 1}, []bool{true, true, true, false, false, true, false})
	for k, want := range []float64{3, 4} {
		s := f.Series[k]
		sum := 0.0
		for i, n := range s.Y {
			if sum += n; (s.X[i] < 0) != (k == 1) {
				t.Errorf("%s rows at %v", s.Name, s.X[i])
			}
		}
		if sum != want {
			t.Errorf("%v %s rows, want %v", sum, s.Name, want)
		}
	}
	if !strings.Contains(f.Text, "4 wrong") {
		t.Error(f.Text)
	}
}

// TestDashes: each of many curves has a colour and a pattern that no other has.
func TestDashes(t *testing.T) {
	curves := make([]Curve, 30)
	for i := range curves {
		curves[i].Points = []metrics.Point{{}, {TruePositives: 1, FalsePositives: 1}}
	}
	for _, f := range []*Figure{ROC(curves...), PrecisionRecall(curves...)} {
		seen := map[string]bool{}
		for _, s := range f.Series[len(f.Series)-len(curves):] {
			look := fmt.Sprint(s.Colour.name(), s.dashes())
			if seen[look] {
				t.Errorf("%s: two curves are %s", f.Title, look)
			}
			seen[look] = true
		}
	}
}

// TestCross: the ends of a line lie on the line and on the edge of the plot, for any line that crosses it.
func TestCross(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	f, inside := &Figure{X: Axis{From: -1, To: 2}, Y: Axis{From: 0, To: 5}}, 0
	for range 1000 {
		w := [3]float64{rng.NormFloat64(), rng.NormFloat64(), 3 * rng.NormFloat64()}
		if rng.IntN(5) == 0 {
			w[rng.IntN(2)] = 0
		}
		x0, y0, x1, y1, ok := crossings(w, f)
		if !ok {
			continue
		}
		inside++
		for _, p := range [][2]float64{{x0, y0}, {x1, y1}} {
			on := math.Abs(w[0]*p[0]+w[1]*p[1]+w[2]) < 1e-9
			edge := min(math.Abs(p[0]+1), math.Abs(p[0]-2), math.Abs(p[1]), math.Abs(p[1]-5)) < 1e-9
			if !on || !edge {
				t.Fatalf("%v: %v", w, p)
			}
		}
	}
	if inside < 300 {
		t.Errorf("%d of 1,000 lines cross the plot", inside)
	}
}

// TestUpdateLabel: the number of an animated update stands above the plot, not over rows.
func TestUpdateLabel(t *testing.T) {
	frames := 0
	var top float64
	for _, s := range figures()["plane"].picture().Elements {
		switch s := s.(type) {
		case *clip:
			top = s.Box.Y
		case *frame:
			frames++
			label := s.Elements[len(s.Elements)-1].(*text)
			if !strings.HasPrefix(label.String, "update ") || label.Y > top {
				t.Errorf("%q is at %g, and the plot begins at %g", label.String, label.Y, top)
			}
		}
	}
	if frames != 3 {
		t.Errorf("%d frames", frames)
	}
}

func ExampleFigure_SVG() {
	f := ROC(Curve{Points: []metrics.Point{{}, {TruePositives: 1}, {TruePositives: 1, FalsePositives: 1}}, Figure: 1})
	fmt.Println(strings.HasPrefix(f.SVG(AutoTheme), "<svg "))
	// Output: true
}
