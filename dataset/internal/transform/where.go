package transform

import (
	"slices"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/plan"
	"halfspace/dataset/internal/where"
	"halfspace/internal/message"
)

// noRowMatches is column.Roles.NoRowMatches: it returns true if the option where is true in no row within the bounds.
func (s *Binding) noRowMatches(_ string, rows int64, bounds []column.Bounds) bool {
	match := where.Some
	err := column.Recovered(func() (err error) {
		of := make([]column.Bounds, len(s.tested))
		for k, i := range s.tested {
			of[k] = bounds[i]
		}
		match, err = s.where.Within(rows, of)
		return err
	})
	return err == nil && match == where.None
}

// Unread returns the columns of text of which the option where needs numbers, booleans or dates.
func (s *Binding) Unread() (names []string) {
	for k, i := range s.tested {
		if s.where.NeedsForm(k, s.Columns[i]) {
			names = append(names, s.Columns[i].Name)
		}
	}
	return names
}

// WithForms returns the binding whose option where reads columns of text in the given forms. It returns an error if a
// comparison needs another form.
func (s *Binding) WithForms(forms []plan.Form) (*Binding, error) {
	for k, i := range s.tested {
		c := s.Columns[i]
		at := slices.IndexFunc(forms, func(f plan.Form) bool { return f.Column == c.Name })
		if at < 0 {
			continue
		}
		if what := s.where.SetForm(k, c, forms[at].Input, forms[at].Examples); what != "" {
			return nil, column.Mark(message.Errorf("--where: column %q: %s", c.Name, what), column.ErrColumn)
		}
	}
	own := *s
	own.Plan.Forms = forms
	return &own, nil
}

// leaveOut marks, in gone, the rows of a batch that the options where, sample and limit leave out, and counts them.
func (s *Binding) leaveOut(bt *column.Batch, gone []bool) error {
	bt.Unchosen = 0
	if bt.Unread {
		for i := range gone {
			gone[i] = true
		}
	} else if s.where != nil {
		values := make([]where.Values, len(s.tested))
		for k, i := range s.tested {
			if values[k].Array = bt.Columns[i]; bt.Digits != nil {
				values[k].Digits = bt.Digits[i]
			}
		}
		matches, err := s.where.Rows(values)
		if err != nil {
			return err
		}
		for i, m := range matches {
			gone[i] = m != where.All
		}
	}
	for i := range gone {
		row := bt.First + int64(i)
		if gone[i] = gone[i] || s.Plan.Sample > 0 && !isSampled(row, s.Plan.Sample) || s.Plan.End > 0 && row >= s.Plan.End; gone[i] {
			bt.Unchosen++
		}
	}
	return nil
}

// isSampled returns true for a share of the rows, which a hash of the row's number chooses: the finalizer of SplitMix64 (Steele, Lea and
// Flood, OOPSLA 2014).
func isSampled(row int64, share float64) bool {
	h := (uint64(row) + 1) * 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return float64((h^h>>31)>>11)*0x1p-53 < share
}

// Until returns the binding that keeps no row from row end on; 0: any row.
func (s *Binding) Until(end int64) *Binding {
	own := *s
	own.Plan.End = end
	return &own
}
