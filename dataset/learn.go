package dataset

import (
	"fmt"
	"iter"

	"halfspace/block"
)

// unlearned tells whether the features depend on more than the types of their columns.
func (s *selection) unlearned() bool {
	for i := range s.inputs {
		if s.inputs[i].Width() == 0 {
			return true
		}
	}
	return false
}

// learn finds out from the batches of the input what the features depend on. It leaves wrong values to be found by the
// builder, which says where they are.
func (s *selection) learn(name string, batches iter.Seq2[*batch, error]) error {
	for bt, err := range batches {
		if err != nil {
			return err
		}
		err := recovered(func() error { return s.measureLists(bt) })
		bt.release()
		if err != nil {
			return errorIn(bt.file, "damaged data (%w)", err)
		}
		if !s.unlearned() {
			return nil
		}
	}
	for i := range s.inputs {
		if c := &s.inputs[i]; c.Width() == 0 {
			return errorIn(name, "column %q: no list has an element: leave it out with --exclude", c.Name)
		}
	}
	return nil
}

// measureLists learns from the first list that has elements how many all must have.
func (s *selection) measureLists(bt *batch) error {
	for k, i := range s.features {
		c := &s.inputs[k]
		if c.Kind != block.ListColumn || c.Elements > 0 {
			continue
		}
		list, err := asList(bt.columns[i])
		if err != nil {
			return fmt.Errorf("column %q: %w", c.Name, err)
		}
		for row := 0; row < list.Len() && c.Elements == 0; row++ {
			if from, to := list.ValueOffsets(row); list.IsValid(row) {
				c.Elements = int(to - from)
			}
		}
	}
	return nil
}

// remember returns all batches, and a sequence that yields them as often as it is asked: the rows of a source that can
// be read once.
func remember(batches iter.Seq2[*batch, error]) (all []*batch, again iter.Seq2[*batch, error]) {
	for bt, err := range batches {
		if err != nil {
			return all, func(yield func(*batch, error) bool) { yield(nil, err) }
		}
		all = append(all, bt)
	}
	return all, func(yield func(*batch, error) bool) {
		for _, bt := range all {
			for _, a := range bt.columns {
				a.Retain()
			}
			if !yield(bt, nil) {
				return
			}
		}
	}
}
