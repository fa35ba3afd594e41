package predict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"halfspace/cmd/internal/console"
	"halfspace/model"
	"halfspace/train"
	"halfspace/train/learner"
)

// onlineNames lists the learners of online, the perceptron first.
func onlineNames() []string {
	names := []string{"perceptron"}
	for _, l := range train.Online() {
		names = append(names, l.Name)
	}
	return names
}

// learnerOptions lists the options of the learners of online, each name once. It leaves out order and epochs, since
// online makes one pass in file order, and eta, which has its own flag.
func learnerOptions() (names []string) {
	for _, l := range train.Online() {
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
		for _, l := range train.Online() {
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
