package predict

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"halfspace/block"
	"halfspace/cmd/internal/console"
	"halfspace/model"
	"halfspace/train"
	"halfspace/train/learner"
	"halfspace/train/perceptron"
)

// onlineNames lists the learners of online, the perceptron first.
func onlineNames() []string {
	return append([]string{"perceptron"}, train.Names(train.Steps)...)
}

// learnerOptions lists the options of the learners of online, each name once. It leaves out order and epochs, since
// online makes one pass in file order, and eta, which has its own flag.
func learnerOptions() (names []string) {
	for _, name := range onlineNames()[1:] {
		l := train.Describe(name)
		for _, o := range l.Options {
			if !slices.Contains([]string{"order", "epochs", "eta"}, o.Name) && !slices.Contains(names, o.Name) {
				names = append(names, o.Name)
			}
		}
	}
	return names
}

// addOnlineOptions adds a flag for each option. The help text of a flag has the default of each learner.
func addOnlineOptions(cmd *cobra.Command) {
	for _, name := range learnerOptions() {
		help, value := "", "NUMBER"
		var words, users []string
		for _, learner := range onlineNames()[1:] {
			l := train.Describe(learner)
			o := l.Option(name)
			if o == nil {
				continue
			}
			if help == "" {
				help = o.Help
			} else if o.Help != help {
				help += " For " + l.Name + ": " + o.Help
			}
			for _, w := range o.Words {
				if !slices.Contains(words, w) {
					words = append(words, w)
				}
			}
			users = append(users, l.Name+" "+o.Text(l.New()))
		}
		if words != nil {
			value = strings.Join(words, "|")
		}
		cmd.Flags().String(name, "", "`"+value+"` "+help+" (defaults: "+strings.Join(users, ", ")+")")
	}
}

// setLearner sets the learner of --algo. Its options are the options that the user gave, then the options of m, the
// model to continue from.
func (o *onlineOptions) setLearner(a *console.App, cmd *cobra.Command, m *model.Model) error {
	l := train.Learner{Learner: &learner.Learner{}}
	if o.algo.Value != onlineNames()[0] {
		var err error
		if l, err = train.Named(o.algo.Value); err != nil {
			return err
		}
		l.Settings.Shared().Order, l.Settings.Shared().Epochs = learner.Cyclic, 1
		o.learner = &l
	}
	for _, name := range append(learnerOptions(), "eta") {
		flag, own := cmd.Flags().Lookup(name), l.Option(name)
		switch {
		case own == nil && flag.Changed && (name != "eta" || o.learner != nil):
			a.Note("--%s has no effect with --algo %s", name, o.algo.Value)
		case own == nil:
		case flag.Changed:
			if err := own.Set(l.Settings, flag.Value.String()); err != nil {
				return console.Usagef("--%w", err)
			}
		case m != nil && m.Algorithm == l.Name:
			if value := m.Options.Get(name); value != nil {
				if err := own.Set(l.Settings, fmt.Sprint(value)); err != nil {
					return fmt.Errorf("%s: %w", o.model, err)
				}
			}
		}
	}
	return nil
}

// learn learns with the learner of --algo, or the perceptron with --eta if setLearner set none.
func (o *onlineOptions) learn(ctx context.Context, src block.Source, opt train.Options) (*train.Trained, error) {
	if o.learner != nil {
		return train.Run(ctx, block.AssumeValid(src), *o.learner, opt)
	}
	return train.Run(ctx, block.AssumeValid(src), perceptron.New(perceptron.Options{Options: learner.Options{Eta: o.eta}}), opt)
}
