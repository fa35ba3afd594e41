package train

import (
	"strings"

	"github.com/spf13/cobra"

	"halfspace/cmd/internal/console"
	"halfspace/cmd/internal/flags"
	"halfspace/internal/message"
	"halfspace/internal/train"
	"halfspace/predict"
	"halfspace/train/learner"
)

// addLearnerFlags adds a flag for each option of a learner. Learners with an option of the same name share the flag. The
// help names them.
func addLearnerFlags(cmd *cobra.Command) {
	for _, o := range flags.LearnerOptions(train.Learners) {
		var users []string
		for _, l := range o.Users {
			users = append(users, l.Name)
		}
		help := o.Help + " [" + strings.Join(users, ", ") + "]"
		usage := flags.Placeholder(o.Value, o.Words) + help
		s := o.Learner.New()
		switch text := o.Text(s); {
		case o.Name == thresholdName:
			cmd.Flags().String(o.Name, "", strings.TrimSuffix(thresholdUsage, " (default 0)")+" For winnow: "+o.Option.Help)
		case len(o.Option.Words) > 0:
			flags.AddChoice(cmd, &text, o.Name, usage, o.Words...)
		case o.NamedNumbers != nil:
			cmd.Flags().String(o.Name, text, usage)
		case o.IsBool(s):
			cmd.Flags().Bool(o.Name, o.Get(s).(bool), help)
		case o.IsInteger(s):
			cmd.Flags().Int64(o.Name, o.Get(s).(int64), usage)
		default:
			cmd.Flags().Float64(o.Name, o.Get(s).(float64), usage)
		}
	}
}

// setLearner sets the learner of --algo, with the options that the user gave.
func (o *trainOptions) setLearner(cmd *cobra.Command) error {
	l, err := train.LearnerNamed(o.algo)
	if err != nil {
		return console.Usagef("%w", err)
	}
	for _, option := range flags.LearnerOptions(train.Learners) {
		flag := cmd.Flags().Lookup(option.Name)
		if !flag.Changed {
			continue
		}
		if own := l.Option(option.Name); own == nil && option.Name == thresholdName {
			text := flag.Value.String()
			if o.threshold, err = predict.ParseThreshold(text); err != nil {
				return console.Usagef("--threshold %s: %w", text, err)
			}
		} else if own == nil {
			if err := checkUnused(l.Learner, option, flag.Value.String()); err != nil {
				return err
			}
		} else if err := own.Set(l.Settings, flag.Value.String()); err != nil {
			if typed := own.Check(l.Settings); typed != nil {
				err = typed
			}
			return optionError(l.Learner, own, flag.Value.String(), err)
		}
	}
	l.Settings.RunOptions().SetSeed(o.seed)
	l.Settings.RunOptions().Workers = o.Workers
	o.learner = l
	_, err = o.finish(l)
	return err
}

// finish checks the options of a learner. It returns the learner without the options that have no effect.
func (o *trainOptions) finish(l train.Learner) (train.Learner, error) {
	for i := range l.Options {
		if err := l.Options[i].Check(l.Settings); err != nil {
			return l, optionError(l.Learner, &l.Options[i], l.Text(l.Options[i].Name), err)
		}
	}
	if err := l.CheckCombination(l.Settings); err != nil {
		return l, console.Usage(err)
	}
	l.Settings = l.Settings.Copy()
	l.DropUnusedOptions(l.Settings)
	stops := l.Has("early-stop") && l.Text("early-stop") != "0"
	if l.ChoosesByValidation && l.Option("pocket") == nil && o.validation == "" && stops {
		return l, console.Usagef("--early-stop needs --validation, rows to judge on")
	}
	return l, nil
}

// checkUnused returns an error if value is wrong for an option that the learner l lacks: no learner takes the value, or
// the option is strict.
func checkUnused(l *learner.Learner, option *flags.LearnerOption, value string) error {
	if advice := console.OtherOption(option.Name); option.MustExist && advice != "" {
		return console.Usagef("unknown option --%s%s, or --algo %s, which has it", option.Name, advice, option.Learner.Name)
	}
	if option.MustExist && value != autoName {
		return console.Usagef("--%s %s with --algo %s, which doesn't take it: leave it out", option.Name, value, l.Name)
	}
	s := option.Learner.New()
	err := option.Set(s, value)
	if typed := option.Check(s); typed != nil {
		err = typed
	}
	if err != nil {
		return optionError(option.Learner, option.Option, value, err)
	}
	return nil
}

// optionError returns an error about an option in terms of the command line.
func optionError(l *learner.Learner, o *learner.Option, value string, err error) error {
	if o.MustExist && len(o.Words) > 0 {
		err = message.Refusal(o.Name, value, "with --algo %s: use %s", l.Name, strings.Join(o.Words, ", "))
	}
	return console.Usage(err)
}

// blame names the option and value that make another option have no effect.
func blame(l train.Learner, option string) string {
	if o := l.Option(option); o != nil && o.Condition != nil && l.Text(o.Condition.Option) != autoName {
		return message.Option(o.Condition.Option) + " " + l.Text(o.Condition.Option)
	}
	return message.Option("algo " + l.Name)
}

// scales tells whether the learning rate only scales the weights. That holds for a perceptron that begins with zeros
// and has neither margin nor penalty.
func scales(l train.Learner) bool {
	if !l.IsPerceptron() {
		return false
	}
	margin, l2 := l.PerceptronUpdate(l.Settings)
	return margin == 0 && l2 == 0
}

// thresholdUsage is the help text of --threshold for learners other than winnow.
const thresholdUsage = "`NUMBER|p=NUMBER|f1|cost=FP:FN` Keep a threshold in the model, which predict, eval and the " +
	"exports obey: this number, the score of a probability (p=0.3), or the score with the best F1 (f1) or the least " +
	"cost on five held-out folds. cost=1:5 says that a false positive costs 1 and a false negative 5. (default 0)"
