package perceptron

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"halfspace/internal/block"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/pocket"
	"halfspace/schema"
	"halfspace/train/learner"
)

// Options are the options of Train. The zero value of a field stands for its default.
type Options struct {
	Order      learner.Order // Cyclic
	Epochs     int64         // most passes over the rows; 100
	MaxUpdates int64         // most updates; no limit
	Eta        float64       // learning rate, in (0, 1]; 1
	Shards     int64         // shards of the rows, which learn apart in each epoch; their weights are mixed after it; 1
	Mix        learner.Mix   // Uniform

	Pocket pocket.Mode  // weights that a pocket judges; "": no pocket
	Form   learner.Form // Last. Averaged excludes a pocket; Voted excludes a pocket and validation rows

	VoterBytes int64 // most bytes of the weights that vote, only with the form Voted; VoterBytes

	Margin    float64 // a row updates the weights if y (w.x) is at most this, 0 or more; 0
	L2        float64 // penalty on the weights without the bias, 0 or more; 0. It excludes votes and a pocket
	EarlyStop int64   // epochs without fewer errors that end the training; 0: the training doesn't end early
}

// Settings are Options, and how the training runs.
type Settings struct {
	Options
	learner.Run
}

// withDefaults returns the options with the defaults that depend on other options. It returns an error if an option
// excludes another option that is set.
func (o Settings) withDefaults(validated bool) (Settings, error) {
	if o.Form = cmp.Or(o.Form, learner.Last); !slices.Contains(learner.Forms, o.Form) {
		return o, message.WrongValue("form", o.Form, humanize.OneOf(learner.WordsOf(learner.Forms)))
	}
	if o.VoterBytes < 0 || o.VoterBytes > 0 && o.Form != learner.Voted {
		return o, message.WrongValue("voter-bytes", o.VoterBytes, "1 or more with the form voted, and none with another")
	}
	if o.VoterBytes == 0 && o.Form == learner.Voted {
		o.VoterBytes = VoterBytes
	}
	if o.Shards > 1 && o.Pocket == pocket.Exact {
		o.Pocket = pocket.Epoch
	}
	voted := o.Form == learner.Voted
	switch {
	case voted && (o.Pocket != "" || validated):
		return o, errors.New("the form voted takes no pocket and no rows to validate on: leave them out")
	case o.Shards > 1 && (voted || o.Trace != nil || o.Pocket == pocket.Ratchet):
		return o, errors.New("votes, a trace and a pocket with ratchet follow one path of weights, and each shard " +
			"has its own: leave them out, or the shards")
	case o.Form == learner.Averaged && o.Pocket != "":
		return o, errors.New("the form averaged takes no pocket: leave it out")
	case (voted || o.Pocket != "") && o.L2 > 0:
		return o, message.Errorf("the form voted and a pocket take no --l2: leave it out")
	case o.EarlyStop > 0 && !validated && o.Pocket == "":
		return o, message.Refusal("early-stop", "", "needs a pocket, or rows to validate on: give one, or 0")
	}
	return o, nil
}

// checkValidation returns the validation rows, checked by block.Validate. It returns an error if they are empty, or if
// their columns or classes differ from spec, the spec of the rows to learn from.
func checkValidation(ctx context.Context, spec *schema.Spec, rows block.Source, workers int) (block.Source, error) {
	rows, err := block.Validate(ctx, rows, workers)
	if err != nil {
		return nil, fmt.Errorf("the rows to validate on: %w", err)
	}
	other := rows.Spec()
	switch {
	case rows.Rows() == 0 || other.Cols() != spec.Cols():
		return nil, fmt.Errorf("there are %d rows to validate on, of %d columns: use rows of %d columns", rows.Rows(),
			other.Cols(), spec.Cols())
	case !slices.Equal(other.Classes, spec.Classes) || other.PositiveClass() != spec.PositiveClass():
		return nil, fmt.Errorf("the rows to validate on have the classes %s and the others %s, or another one is +1: "+
			"give both the same Spec", schema.ListClasses(other.Classes), schema.ListClasses(spec.Classes))
	}
	return rows, nil
}
