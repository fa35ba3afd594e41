package flags

import (
	"slices"
	"strings"

	"halfspace/train/learner"
)

// A LearnerOption is an option of one or more learners, as the first of them has it.
type LearnerOption struct {
	*learner.Option
	Learner *learner.Learner // the first learner that has the option
	Users   []*learner.Learner
	Words   []string // the words that the option takes with any learner
	Help    string   // with the descriptions of learners that describe the option differently
}

// LearnerOptions lists the options of learners, each name once.
func LearnerOptions(learners []*learner.Learner) (all []*LearnerOption) {
	for _, l := range learners {
		for i := range l.Options {
			o := &l.Options[i]
			at := slices.IndexFunc(all, func(other *LearnerOption) bool { return other.Name == o.Name })
			if at < 0 {
				at, all = len(all), append(all, &LearnerOption{Option: o, Learner: l, Help: o.Help})
			}
			of := all[at]
			of.Users = append(of.Users, l)
			for _, w := range o.Words {
				if !slices.Contains(of.Words, w) {
					of.Words = append(of.Words, w)
				}
			}
			if more := strings.TrimPrefix(o.Help, of.Option.Help); !strings.HasPrefix(of.Option.Help, more) {
				of.Help += " For " + l.Name + ": " + strings.TrimSpace(more)
			}
		}
	}
	return all
}

// Placeholder returns the start of a flag's usage, which names the flag's value: words, or name if there are no words.
func Placeholder(name string, words []string) string {
	if len(words) > 0 {
		name = strings.Join(words, "|")
	}
	return "`" + name + "` "
}
