package dataset

import (
	"context"
	"maps"
	"slices"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/plan"
	"halfspace/dataset/internal/transform"
	"halfspace/internal/message"
	"halfspace/schema"
)

// readForms makes the option where read columns of text as the features that derive from them, if it compares them
// with numbers, booleans or dates. Unless a model or a plan has such features, readForms reads these columns in a
// pass, and plans them.
func (t *Table) readForms(ctx context.Context, d plan.Draft, planned map[string]transform.Form, in *openedInput) error {
	unread := in.bound.Unread()
	if len(unread) == 0 {
		return nil
	}
	columns := d.Inputs
	if d.Spec != nil {
		columns = d.Spec.Columns()
	}
	forms := map[string]transform.Form{}
	maps.Copy(forms, planned)
	var unplanned []string
	for _, name := range unread {
		if _, is := forms[name]; is {
			continue
		}
		if form := derivedFrom(columns, name); form != nil {
			forms[name] = transform.Form{Input: form}
		} else {
			unplanned = append(unplanned, name)
		}
	}
	if len(unplanned) > 0 {
		if t.source.Files[0].Live() {
			return column.Mark(message.Errorf("-: --where: column %q is text, and whether its texts are numbers is known when "+
				"all rows are read: save standard input and name the file", unplanned[0]), ErrColumn)
		}
		found, err := t.formsOf(ctx, d, unplanned)
		if err != nil {
			return err
		}
		maps.Copy(forms, found)
		if planned != nil {
			maps.Copy(planned, found)
		}
	}
	if err := in.bound.Read(forms); err != nil {
		return column.ErrorIn(in.Name(), "%w", err)
	}
	return nil
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
func (t *Table) formsOf(ctx context.Context, d plan.Draft, names []string) (map[string]transform.Form, error) {
	only := draft{table: t.silent(), request: plan.Draft{Plan: plan.Plan{NullWords: d.Words(), Bias: true}, Features: names,
		Types: map[string]plan.Word{}}}
	for _, name := range names { // other types say how a feature is made of a text
		if word := d.Types[name]; word.OfValues() {
			only.request.Types[name] = word
		}
	}
	found, err := only.profile(ctx, allRows)
	if err != nil {
		return nil, err
	}
	forms := map[string]transform.Form{}
	for _, c := range found.plan.Columns {
		forms[c.Name] = transform.Form{Input: derivedFrom(found.plan.Inputs, c.Name), Examples: c.Examples}
	}
	return forms, nil
}
