package dataset

import (
	"context"
	"slices"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/plan"
	"halfspace/dataset/internal/transform"
	"halfspace/internal/message"
	"halfspace/schema"
)

// readForms makes the option where read columns of text as the features that derive from them, if it compares them
// with numbers, booleans or dates. Unless a model or a plan has such features or forms, readForms reads these columns in
// a pass, and plans them. It returns the binding with these forms.
func (t *Table) readForms(ctx context.Context, d plan.Draft, in *openedInput) (*transform.Binding, error) {
	p := &in.bound.Plan
	columns := p.Inputs
	if p.Spec != nil {
		columns = p.Spec.Columns()
	}
	forms := slices.Clone(p.Forms)
	var unplanned []string
	for _, name := range in.bound.Unread() {
		if slices.ContainsFunc(forms, func(f plan.Form) bool { return f.Column == name }) {
			continue
		}
		if input := derivedFrom(columns, name); input != nil {
			forms = append(forms, plan.Form{Column: name, Input: input})
		} else {
			unplanned = append(unplanned, name)
		}
	}
	if len(unplanned) > 0 {
		if t.source.Files[0].Live() {
			return nil, column.Mark(message.Errorf("-: --where: column %q is text, and whether its texts are numbers is known when "+
				"all rows are read: save standard input and name the file", unplanned[0]), ErrColumn)
		}
		found, err := t.formsOf(ctx, d, unplanned)
		if err != nil {
			return nil, err
		}
		for _, c := range found.Columns {
			forms = append(forms, plan.Form{Column: c.Name, Input: derivedFrom(found.Inputs, c.Name), Examples: c.Examples})
			isFeature := slices.ContainsFunc(columns, func(in schema.Column) bool { return in.Name == c.Name })
			if isFeature && d.Decides() { // the plan has the notes
				continue
			}
			for _, note := range c.Notes {
				t.opt.tell([]string{message.Sprintf("--where: column %q: %s", c.Name, note)})
			}
		}
	}
	bound, err := in.bound.WithForms(forms)
	if err != nil {
		return nil, column.ErrorIn(in.Name(), "%w", err)
	}
	return bound, nil
}

// derivedFrom returns the first feature that derives from the texts of a column, or nil.
func derivedFrom(columns []schema.Column, name string) *schema.Column {
	i := slices.IndexFunc(columns, func(c schema.Column) bool {
		return c.Name == name && (c.Derive.Written() || c.Derive.Dated())
	})
	if i < 0 {
		return nil
	}
	return &columns[i]
}

// formsOf plans the features of columns of text, as Options.Prepare would.
func (t *Table) formsOf(ctx context.Context, d plan.Draft, names []string) (*plan.Decisions, error) {
	only := planner{table: t.withoutNotes(), lacksTypes: !d.Decides(), request: plan.Draft{
		Plan: plan.Plan{NullWords: d.Words(), Bias: true}, Features: names, Types: map[string]plan.Word{}}}
	for _, name := range names { // other types say how a feature is made of a text
		if word := d.Types[name]; word.OfValues() {
			only.request.Types[name] = word
		}
	}
	found, err := only.profile(ctx, allRows)
	return found.plan, err
}
