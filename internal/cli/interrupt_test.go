package cli

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"halfspace/dataset"
	"halfspace/fit"
	"halfspace/model"
	"halfspace/train"
)

// TestInterruptedKeeps: a cancelled training leaves the model of the weights so far. It is the model of a training that ends by itself
// after the same visits.
func TestInterruptedKeeps(t *testing.T) {
	two, three := noisy(t, "9000"), iris
	for _, c := range []struct {
		data, label, options string
		same                 bool // as --epochs 3
	}{
		{two, "label", "--algo perceptron", true},
		{two, "label", "--algo perceptron --order shuffle", true},
		{two, "label", "--algo averaged --order shuffle --l2 0.1", true},
		{two, "label", "--algo pocket --pocket epoch", false},
		{two, "label", "--algo pocket --pocket exact", false},
		{noisy(t, "1000"), "label", "--algo voted", true},
		{noisy(t, "1000"), "label", "--algo dual", true},
		{two, "label", "--algo logistic --solver lbfgs", false},
		{two, "label", "--algo logistic --solver newton", false},
		{two, "label", "--algo logistic --solver sgd", false},
		{two, "label", "--algo svm", false},
		{two, "label", "--algo svm --loss hinge", false},
		{three, "species", "--algo averaged --multiclass joint", true},
		{three, "species", "--algo logistic", false},
	} {
		t.Run(strings.ReplaceAll(c.options, " ", "_"), func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			data, err := dataset.Load(ctx, []string{c.data}, dataset.Options{Label: c.label, Standardize: true})
			if err != nil {
				t.Fatal(err)
			}
			l, opt := learnerOf(t, strings.Fields(c.options+" --epochs 1000"))
			ended := int64(0) // epochs at the end
			l.Settings.Shared().Progress = func(p train.Progress) {
				if p.Epoch >= 3 && ended == 0 {
					ended = p.Epoch
					cancel()
				}
			}
			f, err := fit.Learn(ctx, data, l, opt)
			if ended == 0 {
				t.Fatalf("the training ended by itself: %v", err)
			}
			if f == nil || !errors.Is(err, context.Canceled) {
				t.Fatalf("%v, error %v", f, err)
			}
			m, learned := f.Model, f.Result
			if !learned.Interrupted || m.Training.Converged || m.Data.Fingerprint == "" {
				t.Errorf("interrupted %v, converged %v, fingerprint %q", learned.Interrupted, m.Training.Converged, m.Data.Fingerprint)
			}
			wrong, err := fit.Count(context.Background(), m, data, 2)
			if err != nil || wrong.Errors != *m.Training.Errors {
				t.Errorf("the model has %d errors, and says %d (%v)", wrong.Errors, *m.Training.Errors, err)
			}
			if float64(wrong.Errors) > 0.35*float64(data.Rows()) {
				t.Errorf("%d errors of %d rows", wrong.Errors, data.Rows())
			}
			if !c.same {
				return
			}
			l, opt = learnerOf(t, strings.Fields(c.options+" --epochs 3"))
			three, err := fit.Learn(context.Background(), data, l, opt)
			if err != nil {
				t.Fatal(err)
			}
			whole := three.Model
			if got, want := m.Training.Visits, whole.Training.Visits; got == want && !slices.EqualFunc(m.Weights, whole.Weights, slices.Equal) {
				t.Errorf("after %d visits the weights aren't those of a training that ends there", got)
			}
		})
	}
}

// learnerOf returns the learner that options of train name, with seed 1, and the options of fit.
func learnerOf(t *testing.T, args []string) (l fit.Learner, opt fit.Options) {
	t.Helper()
	l, err := fit.Named(args[1])
	for i := 2; i < len(args) && err == nil; i += 2 {
		if args[i] == "--multiclass" {
			opt.Multiclass = args[i+1]
		} else {
			l, err = l.With(strings.TrimPrefix(args[i], "--"), args[i+1])
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	l.Settings.Shared().Seed, l.Settings.Shared().Workers = 1, 2
	return l, opt
}

// A cancelling writer cancels when it was written a text so many times.
type cancelling struct {
	strings.Builder
	cancel context.CancelFunc
	text   string
	left   int
}

func (c *cancelling) Write(p []byte) (int, error) {
	if c.left -= strings.Count(string(p), c.text); c.left <= 0 {
		c.cancel()
	}
	return c.Builder.Write(p)
}

// TestInterruptedOut: the command writes the weights so far to --out, says so, and exits with 130. Interrupted before there are any, it
// says that no model was written.
func TestInterruptedOut(t *testing.T) {
	data := noisy(t, "5000")
	for lines, kept := range map[int]bool{0: false, 2: true} { // the second line comes when the training is under way
		path := filepath.Join(t.TempDir(), "m.json")
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		stderr := &cancelling{cancel: cancel, text: "training", left: lines}
		if lines == 0 {
			cancel()
		}
		var stdout strings.Builder
		status := run(ctx, []string{"train", data, "--label", "label", "--algo", "pocket", "--epochs", "1000000000000", "--progress", "always", "--out", path, "--json"}, &stdout, stderr)
		want := "halfspace: interrupted: no model was written\n"
		if kept {
			want = "halfspace: interrupted: " + path + " has the weights so far\n"
		}
		if status != exitInterrupted || !strings.HasSuffix(stderr.String(), want) {
			t.Errorf("status %d, %q; want %d, %q", status, stderr.String(), exitInterrupted, want)
		}
		_, err := os.Stat(path)
		if (err == nil) != kept {
			t.Errorf("the model is there: %v", err)
		}
		if !kept {
			continue
		}
		var r map[string]any
		if err := json.Unmarshal([]byte(stdout.String()), &r); err != nil || r["interrupted"] != true || r["converged"] != false || r["model"] != path {
			t.Errorf("%v: report %v", err, r)
		}
		m, err := model.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if e := decode(t, "eval", "--model", path, data, "--json"); e["errors"] != float64(*m.Training.Errors) || e["errors"] != r["train_errors"] {
			t.Errorf("eval has %v errors, the model %d, the report %v", e["errors"], *m.Training.Errors, r["train_errors"])
		}
		onlyFiles(t, filepath.Dir(path), "m.json")
	}
}

// TestInterruptedClasses: a training one versus the rest that ends before every class has weights keeps nothing. It says how many classes
// were trained. The first class of iris is separable, the second isn't.
func TestInterruptedClasses(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	data, err := dataset.Load(ctx, []string{iris}, dataset.Options{Label: "species"})
	if err != nil {
		t.Fatal(err)
	}
	l, opt := learnerOf(t, strings.Fields("--algo perceptron --epochs 1000000000000"))
	l.Settings.Shared().Workers = 1
	l.Settings.Shared().Progress = func(p train.Progress) {
		if p.Epoch > 1000 {
			cancel()
		}
	}
	f, err := fit.Learn(ctx, data, l, opt)
	var u *train.Unfinished
	if f != nil || !errors.Is(err, context.Canceled) || !errors.As(err, &u) || u.Far != "1 of 3 classes were trained, and a model needs all" {
		t.Errorf("%v, error %v", f, err)
	}
}

// TestInterruptedSays: an interrupt before there are weights says how far the training was.
func TestInterruptedSays(t *testing.T) {
	for _, c := range []struct{ options, at, want string }{
		{"train --algo perceptron --epochs 1000000000000", "training", ": no model was written: 0 of 3 classes were trained, and a model needs all"},
		{"train --algo logistic --cv 3", "cross-validating", ": no model was written: the cross-validation was at fold 1 of 3"},
		{"compare", "cross-validating: fold 1 of 5, dealing", ": the cross-validation was at fold 1 of 5"},
	} {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		stderr := &cancelling{cancel: cancel, text: c.at, left: 1}
		args := append(strings.Fields(c.options), "--label", "species", "--progress", "always", "--workers", "1", iris)
		if args[0] == "train" {
			args = append(args, "--out", filepath.Join(t.TempDir(), "m.json"))
		}
		status := run(ctx, args, new(strings.Builder), stderr)
		if status != exitInterrupted || !strings.HasSuffix(stderr.String(), "halfspace: interrupted"+c.want+"\n") {
			t.Errorf("%s: status %d, %q", c.options, status, stderr.String())
		}
	}
}
