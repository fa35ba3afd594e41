package cli

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"halfspace/cmd/internal/flags"
	"halfspace/internal/train"
)

func TestHelp(t *testing.T) {
	for _, verb := range []string{"", "train", "predict", "eval", "inspect", "export", "convert", "gen", "version", "bench"} {
		text := succeed(t, append(strings.Fields(verb), "--help")...)
		_, examples, ok := strings.Cut(text, "Examples:\n")
		if !ok || !strings.HasPrefix(strings.TrimSpace(examples), strings.TrimSpace("halfspace "+verb)) {
			t.Errorf("%s --help has no example:\n%s", verb, text)
		}
		for line := range strings.Lines(text) {
			if strings.Contains(line, "\t") || len(line) > 81 && !strings.HasPrefix(line, "  halfspace") || strings.TrimRight(line, " \n") != strings.TrimSuffix(line, "\n") && !strings.HasPrefix(line, "  -") {
				t.Errorf("%s --help: untidy line %q", verb, line)
			}
		}
	}
	for args, same := range map[string]string{"": "--help", "help": "--help", "help train": "train --help",
		"help completion zsh": "completion zsh --help", "completion": "completion --help"} {
		if text := succeed(t, strings.Fields(args)...); text != succeed(t, strings.Fields(same)...) {
			t.Errorf("halfspace %s prints\n%s", args, text)
		}
	}
}

// panics is a writer that breaks.
type panics struct{}

func (panics) Write([]byte) (int, error) { panic("two\nlines") }

func TestPanicIsOneLine(t *testing.T) {
	var stderr bytes.Buffer
	status := run(context.Background(), []string{"version"}, panics{}, &stderr)
	if status != exitFailed || !isOneLine(stderr.String()) || !strings.Contains(stderr.String(), "internal error: two lines") {
		t.Errorf("status %d: %q", status, stderr.String())
	}
}

func TestISAVariable(t *testing.T) {
	data := textbook(t)
	t.Setenv(flags.ISAVariable, "mmx")
	for _, args := range [][]string{{"train", "--algo", "perceptron", data, "--label", "y"}, {"version"}} {
		status, _, stderr := command(args...)
		if status != exitUsage || !strings.Contains(stderr, flags.ISAVariable+": unknown instruction set") || !isOneLine(stderr) {
			t.Errorf("%s: status %d: %q", args[0], status, stderr)
		}
	}
	if got := decode(t, "train", "--algo", "perceptron", data, "--label", "y", "--isa", "generic", "--json")["isa"]; got != "generic" {
		t.Errorf("--isa generic ran on %v", got)
	}
	t.Setenv(flags.ISAVariable, "generic")
	if got := decode(t, "version", "--json")["isa"]; got != "generic" {
		t.Errorf("%s=generic gives %v", flags.ISAVariable, got)
	}
}

// TestOddNames: a name that is no UTF-8 can't be written to a model.
func TestOddNames(t *testing.T) {
	name := filepath.Join(text(t, map[string]string{"x.csv": "x\xff,y\n3,1\n1,0\n"}), "x.csv")
	status, _, stderr := command("train", name, "--label", "y")
	if want := `a model can't be made of this data: name of feature "x\xff" is not valid UTF-8`; status != exitFailed || !strings.Contains(stderr, want) {
		t.Errorf("status %d, %s", status, stderr)
	}
}

// TestCollectLater: GOGC stays as the user has it. Otherwise the collector aims at leastHeap bytes, or at twice the live heap.
// In inspect it runs more often once many columns are in memory.
func TestCollectLater(t *testing.T) {
	percent := func() int {
		gogc := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		metrics.Read(gogc)
		return int(gogc[0].Value.Uint64()) // -1 if it is off
	}
	defer debug.SetGCPercent(percent())
	for _, own := range []int{50, -1} {
		debug.SetGCPercent(own)
		if collectLater([]string{"inspect"}); percent() != own {
			t.Errorf("%d %%, and GOGC says %d", percent(), own)
		}
	}
	becomes := func(verb, want string, is func(percent int) bool) {
		t.Helper()
		debug.SetGCPercent(100)
		collectLater([]string{verb})
		for begin := time.Now(); !is(percent()); runtime.GC() {
			if time.Since(begin) > time.Minute {
				t.Fatalf("%s: %d %% after many runs, want %s", verb, percent(), want)
			}
		}
	}
	columns := make([]byte, 2*manyColumnsHeap)
	becomes("train", "100 %", func(percent int) bool { return percent == 100 })
	becomes("inspect", "25 %", func(percent int) bool { return percent == inspectPercent })
	runtime.KeepAlive(columns)
	columns = make([]byte, leastHeap/4)
	becomes("train", "100 % to 300 %", func(percent int) bool { return percent > 100 && percent < 300 })
	runtime.KeepAlive(columns)
}

// TestBriefHelp: the help of train is one screen, and every option in it exists.
func TestBriefHelp(t *testing.T) {
	inParallel(t)
	help := succeed(t, "train", "--help")
	all := succeed(t, "train", "--help-all")
	lines := strings.Split(strings.TrimSuffix(help, "\n"), "\n")
	options := 0
	for _, line := range lines {
		if utf8.RuneCountInString(line) > flags.UsageWidth && !strings.HasPrefix(line, "  halfspace") {
			t.Errorf("a line is longer than %d: %s", flags.UsageWidth, line)
		}
		if name, is := strings.CutPrefix(line, "  --"); is {
			options++
			if !strings.Contains(all, "\n  --"+strings.Fields(name)[0]) {
				t.Errorf("the full help has no --%s", name)
			}
		}
	}
	if len(lines) > 24 || options != 12 || strings.Count(help, "\n  halfspace train ") != 2 || !strings.Contains(help, "--help-all") {
		t.Errorf("%d lines, %d options:\n%s", len(lines), options, help)
	}
}

// TestTrainHelp: a screen says what train does, before the options, which stand in groups, those of the learners first. With --algo they
// are those of the learner, with its defaults.
func TestTrainHelp(t *testing.T) {
	inParallel(t)
	all := []string{"Learner:", "Data:", "Evaluation:", "Output:", "Machine:"}
	for _, algo := range append([]string{""}, train.Names()...) {
		args := []string{"train", "--help-all"}
		if algo != "" {
			args = []string{"train", "--help", "--algo", algo}
		}
		help := succeed(t, args...)
		intro, options, _ := strings.Cut(help, "\n"+all[0])
		if lines := strings.Split(intro, "\n"); len(lines) > 27+len(train.Names()) {
			t.Errorf("%s: %d lines stand before the options", algo, len(lines))
		}
		for line := range strings.Lines(intro) {
			if utf8.RuneCountInString(strings.TrimRight(line, "\n")) > flags.UsageWidth {
				t.Errorf("%s: a line is longer than %d: %s", algo, flags.UsageWidth, line)
			}
		}
		at := 0
		for _, heading := range all[1:] {
			next := strings.Index(options, "\n"+heading)
			if next < at {
				t.Errorf("%s: no heading %s after the one before it\n%s", algo, heading, options)
			}
			at = next
		}
		for _, l := range train.Learners {
			for _, o := range l.Options {
				has := strings.Contains(options, "--"+o.Name+" ")
				if want := algo == "" || o.Name == "threshold" || train.Describe(algo).Option(o.Name) != nil; has != want {
					t.Errorf("%s: --%s is there: %v, want %v", algo, o.Name, has, want)
				}
			}
		}
	}
	if help := succeed(t, "train", "--algo", "svm", "--help"); !strings.Contains(help, "max(0, 1 - y(w.x+b))^2") || !strings.Contains(help, "(default squared_hinge)") {
		t.Errorf("the help of svm is\n%s", help)
	}
}

// TestLearnerExamples runs the examples in the help of each learner.
func TestLearnerExamples(t *testing.T) {
	t.Chdir(text(t, map[string]string{"data.csv": "a,b,y\n0,0,no\n0,1,no\n0,0,no\n1,0,yes\n1,1,yes\n1,0,yes\n"}))
	for _, l := range train.Learners {
		_, examples, _ := strings.Cut(succeed(t, "train", "--algo", l.Name, "--help"), "Examples:\n")
		examples, _, _ = strings.Cut(examples, "\n\n")
		lines := strings.Split(examples, "\n")
		if len(lines) != 2 {
			t.Errorf("%s has the examples %q", l.Name, examples)
		}
		for _, line := range lines {
			args := strings.Fields(line)
			if !strings.Contains(line, "--algo "+l.Name+" ") {
				t.Errorf("%s has the example %s", l.Name, line)
			}
			succeed(t, args[1:]...)
		}
	}
}

// run is Main with a context.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (status int) {
	return runOn(ctx, nil, args, stdout, stderr)
}
