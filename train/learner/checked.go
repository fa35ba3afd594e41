package learner

// Checked returns a copy of s in which every zero value that stands for a default is replaced by the default. It returns
// an *OptionError if an option is out of range.
func (l *Learner) Checked(s Settings) (Settings, error) {
	s = CopySettings(s)
	l.Complete(s)
	for i := range l.Options {
		if err := l.Options[i].Check(s); err != nil {
			return nil, err
		}
	}
	return s, nil
}
