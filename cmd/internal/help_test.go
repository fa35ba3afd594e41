package cli

import (
	"strings"
	"testing"
	"unicode/utf8"

	"halfspace/cmd/internal/flags"
	"halfspace/train"
)

// TestTrainHelp: a screen says what train does, before the options, which stand in groups. With --algo they are those of the learner,
// with its defaults.
func TestTrainHelp(t *testing.T) {
	inParallel(t)
	all := []string{"Data:", "Learner:", "Judging:", "Output:", "Machine:"}
	for _, algo := range append([]string{""}, train.Names()...) {
		args := []string{"train", "--help"}
		if algo != "" {
			args = []string{"train", "--help", "--algo", algo}
		}
		help := succeed(t, args...)
		intro, options, _ := strings.Cut(help, "\n"+all[0])
		if lines := strings.Split(intro, "\n"); len(lines) > 40 {
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
