package perceptron

import (
	"context"
	"errors"
	"strings"
	"testing"

	"halfspace/block"
	"halfspace/pocket"
	"halfspace/schema"
	"halfspace/train"
)

func TestErrors(t *testing.T) {
	x, y := noisy(10000, 4, 0.1, false, 1)
	d := dense(x, y)
	huge := dense([][]float64{{3e38, -3e38}, {3e38, 3e38}}, []float64{1, 1}) // the second row scores inf - inf
	try := func(src block.Source, opt train.Options) func() error {
		return func() error { _, err := Train(context.Background(), src, Options{Options: opt}); return err }
	}
	unlabelled := dense(x[:10], y[:10])
	for b := range unlabelled.Blocks(context.Background()) {
		b.Y = nil
	}
	three := dense(x[:10], y[:10])
	three.Spec().Classes = append(three.Spec().Classes, schema.IntClass(2))
	numbers := dense(x[:10], make([]float64, 10))
	numbers.Spec().Classes = three.Spec().Classes
	for want, run := range map[string]func() error{
		"have no labels": try(unlabelled, train.Options{}),
		"no labels:":     try(unlabelled, train.Options{Order: train.Shuffle}),
		"labels of 3 classes are the numbers 0 to 2": try(three, train.Options{}),
		"3 classes (-1, 1, 2), training takes two": func() error {
			_, err := Train(context.Background(), numbers, Options{Pocket: pocket.Exact})
			return err
		},
		"too small": try(d, train.Options{Eta: 1e-60}),
		"use one of": func() error {
			_, err := Train(context.Background(), d, Options{Options: train.Options{Order: "up"}})
			return err
		},
		"above 0": func() error {
			_, err := Train(context.Background(), d, Options{Options: train.Options{Eta: 1.5}})
			return err
		},
		"no rows": func() error {
			_, err := Train(context.Background(), block.NewData(d.Spec(), nil), Options{})
			return err
		},
		"too large": try(huge, train.Options{}),
		`unknown pocket "trousers": use one of [exact ratchet epoch]`: func() error {
			_, err := Train(context.Background(), d, Options{Pocket: "trousers"})
			return err
		},
		"there are 2 rows to validate on, of 3 columns: use rows of 5 columns": func() error {
			_, err := TrainValidated(context.Background(), d, huge, Options{Pocket: pocket.Exact})
			return err
		},
		"margin is -1": func() error { _, err := Train(context.Background(), d, Options{Margin: -1}); return err },
		"out of the range of float32": func() error {
			_, err := Train(context.Background(), d, Options{Margin: 1e300})
			return err
		},
		"early-stop needs a pocket": func() error { _, err := Train(context.Background(), d, Options{EarlyStop: 2}); return err },
		"early-stop is -2":          func() error { _, err := Train(context.Background(), d, Options{EarlyStop: -2}); return err },
		"as many as 64 MiB hold: end": func() error {
			row := make([]float64, 60000)
			row[0] = 1
			d := dense([][]float64{row, row}, []float64{1, -1}) // the rows update at every visit
			_, err := Train(context.Background(), d, Options{Options: train.Options{Epochs: 1000}, Form: train.Voted})
			return err
		},
		"takes no pocket and no rows to validate on": func() error {
			_, err := TrainValidated(context.Background(), d, d, Options{Form: train.Voted})
			return err
		},
		"averaged takes no pocket": func() error {
			_, err := Train(context.Background(), d, Options{Form: train.Averaged, Pocket: pocket.Exact})
			return err
		},
		"in memory or": func() error {
			_, err := Train(context.Background(), stream{d}, Options{Options: train.Options{Order: train.Shuffle}})
			return err
		},
	} {
		if err := run(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want one with %q", err, want)
		}
	}
}

func TestCancel(t *testing.T) {
	x, y := noisy(10000, 4, 0.1, false, 1)
	for _, order := range train.Orders {
		ctx, cancel := context.WithCancel(context.Background())
		opt := Options{Options: train.Options{Order: order, Epochs: 1 << 40, Progress: func(train.Progress) { cancel() }}}
		if _, err := Train(ctx, dense(x, y), opt); !errors.Is(err, context.Canceled) {
			t.Errorf("order %s: error %v after the context was cancelled", order, err)
		}
	}
}
