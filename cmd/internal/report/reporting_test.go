package report

import (
	"math"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"halfspace/internal/train"
	"halfspace/plot"
	"halfspace/schema"
)

// TestFollower: a report draws a trace of which some figures are unknown, of any length.
func TestFollower(t *testing.T) {
	nan := math.NaN()
	for _, points := range []int64{1, 2, mostTracePoints, 3*mostTracePoints + 1} {
		for _, class := range []int{-1, 0} {
			f, opt := Follow(nil)
			for i := range points {
				p := train.TracePoint{Class: class, Update: i + 1, Row: i % 3, Norm: float64(i), UpperBound: float64(i), Dot: nan, LowerBound: nan, Errors: -1, Objective: nan, Gradient: nan, Gap: nan}
				if i%5 == 0 {
					p.Dot, p.Errors = 1, i
				}
				opt.Point(p)
			}
			n := len(f.columns["update"])
			for name, values := range f.columns {
				if len(values) != n {
					t.Errorf("%d points: %d of %s and %d updates", points, len(values), name, n)
				}
			}
			figures := f.Figures([]schema.Class{schema.StringClass("first")})
			if len(figures) != 2 {
				t.Fatalf("%d points: %d figures", points, len(figures))
			}
			for _, figure := range figures {
				if picture := figure.SVG(plot.AutoTheme); strings.Contains(picture, "NaN") || strings.Contains(picture, ": class first<") != (class == 0) {
					t.Errorf("class %d: %s", class, picture)
				}
			}
		}
	}
	if f, _ := Follow(&train.Trace{UpdatesPerPoint: 2, Point: func(train.TracePoint) {}}); f.updates != nil {
		t.Error("the updates of rows are counted where not all are told")
	}
}

// TestTyped: the command of a report, in a shell, has the options and arguments of the run.
func TestTyped(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("missing: a shell")
	}
	type run struct {
		list, array, args []string
		text              string
		yes, no           bool
	}
	parse := func(words []string) (r run, command string) {
		cmd := &cobra.Command{Use: "it", RunE: func(cmd *cobra.Command, args []string) error {
			r.args, command = args, typedCommand(cmd, args)
			return nil
		}}
		f := cmd.Flags()
		f.StringSliceVar(&r.list, "list", nil, "")
		f.StringArrayVar(&r.array, "array", nil, "")
		f.StringVar(&r.text, "text", "", "")
		f.BoolVar(&r.yes, "yes", false, "")
		f.BoolVar(&r.no, "no", true, "")
		cmd.SetArgs(words)
		if err := cmd.Execute(); err != nil {
			t.Fatalf("%q: %v", words, err)
		}
		return r, command
	}
	for _, words := range [][]string{
		{"a.csv", "-", "it's", "b c"}, {"--", "--list", "-a.csv", "b"}, {"--list", `"a,b",c`, "--list", `"say ""x""", d`, "a.csv"}, {"--list", `""`},
		{"--array", "a,b", "--array", `"`, "--text", "-x", "--yes", "--no=false"}, {"--text", "", "a\nb"}, {"-", "5%\n'\\\t\"$x.csv"},
	} {
		want, command := parse(words)
		out, err := exec.Command(shell, "-c", "printf '%s\\0' "+command).Output()
		if err != nil {
			t.Fatalf("%s: %v", command, err)
		}
		got, again := parse(strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")[1:])
		if !slices.Equal(got.list, want.list) || !slices.Equal(got.array, want.array) || !slices.Equal(got.args, want.args) || got.text != want.text || got.yes != want.yes || got.no != want.no || again != command {
			t.Errorf("%q is written %s, which gives %+v, want %+v", words, command, got, want)
		}
	}
}

// TestRepeat: a report of an interrupted run doesn't say that its command gives the same figures.
func TestRepeat(t *testing.T) {
	for _, interrupted := range []bool{false, true} {
		o := &Options{Interrupted: interrupted}
		page := (&plot.Page{Sections: []plot.Section{o.RepeatSection()}}).HTML()
		if strings.Contains(page, "the same figures") == interrupted || strings.Contains(page, "was interrupted") != interrupted {
			t.Error(page)
		}
	}
}
