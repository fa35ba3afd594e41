package console

import (
	"bytes"
	"context"
	"testing"

	"halfspace/internal/require"
)

// TestHeldNotes: notes that are held follow the report, each once; after it, notes are printed at once. An error releases them too.
func TestHeldNotes(t *testing.T) {
	var both bytes.Buffer
	a := New(context.Background(), &both, &both)
	a.Note("early")
	a.HoldNotes()
	a.Note("held")
	a.Note("held")
	a.Warning("of no use")
	require.NoError(t, a.Report(false, nil, func() *Sheet {
		s := new(Sheet)
		s.Line("the report")
		return s
	}))
	a.Note("late")
	a.HoldNotes()
	a.Note("at the end")
	a.End()
	want := "note: early\nthe report\nnote: held\nwarning: of no use\nnote: late\nnote: at the end\n"
	if both.String() != want {
		t.Errorf("printed\n%swant\n%s", both.String(), want)
	}
	if n := len(a.Notes()); n != 5 {
		t.Errorf("%d notes for reports", n)
	}
}
