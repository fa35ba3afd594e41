package checkpoint

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"halfspace/internal/require"
)

// TestOdd: a state that breaks its own check is told once, and the one before is kept. An older checkpoint that can't be removed doesn't
// make the new one fail.
func TestOdd(t *testing.T) {
	dir := t.TempDir()
	r, notes := open(t, Options{Dir: dir, Epochs: 1})
	p, c := r.Part(0), &counter{n: 7}
	p.Mark(1, 1, c.state)
	for epoch := range int64(3) {
		p.Mark(2+epoch, 2, func(w *Walk) { w.Fail(errors.New("a wheel is missing")) })
	}
	if len(*notes) != 1 || !strings.Contains((*notes)[0], "a wheel is missing") {
		t.Errorf("%q", *notes)
	}
	stuck := filepath.Join(dir, name(0))
	require.NoError(t, os.MkdirAll(filepath.Join(stuck, "full"), 0o700))
	if err := r.Finish(); err != nil || len(*notes) != 2 || !strings.Contains((*notes)[1], stuck) {
		t.Errorf("%v, %q", err, *notes)
	}
	require.NoError(t, os.RemoveAll(stuck))
	r.Close()
	if m, _, err := newestImage(dir, func(string) {}); err != nil || !m.isFinished || m.parts[0].visits != 1 {
		t.Errorf("%+v, %v", m, err)
	}
}

// TestTogether: of several parts, the first one after a time writes all; a run that is closed is never due again.
func TestTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := open(t, Options{Dir: t.TempDir()})
		parts := []*Part{r.Part(0), r.Part(1), r.Part(2)}
		for minute := range 3 {
			for i, p := range parts {
				if p.Due(0) != (minute > 0) {
					t.Errorf("minute %d, part %d: due %v", minute, i, p.Due(0))
				}
				p.Mark(0, int64(1+minute), new(counter).state)
				if r.writtenCount != minute {
					t.Errorf("minute %d, part %d: %d checkpoints", minute, i, r.writtenCount)
				}
			}
			time.Sleep(time.Minute)
			synctest.Wait()
		}
		r.Close()
		if r.tick(); r.timer.Stop() {
			t.Error("the timer goes on")
		}
		again, _ := open(t, Options{Dir: r.opt.Dir, Resume: true})
		if visits, _ := again.ResumedVisits(); visits != 3 {
			t.Errorf("resumed at %d visits", visits)
		}
	})
	if _, err := Open(Options{Dir: t.TempDir(), Every: 1}); err == nil {
		t.Error("a checkpoint each nanosecond is no error")
	}
}

// TestPass: a state is taken first, when a checkpoint is due, and when the last one is a second old.
func TestPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := open(t, Options{Dir: t.TempDir(), Epochs: 10})
		taken := []int64{}
		for pass := range int64(15) {
			r.Part(0).Pass(pass, pass, func(*Walk) { taken = append(taken, pass) })
			time.Sleep(400 * time.Millisecond)
		}
		if want := []int64{0, 3, 6, 9, 10, 13}; !slices.Equal(taken, want) {
			t.Errorf("taken after passes %v, want %v", taken, want)
		}
		r.Close()
	})
}

// TestDue: checkpoints are due after a time, or after a number of epochs.
func TestDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		r, _ := open(t, Options{Dir: dir})
		p, c := r.Part(0), new(counter)
		for second := range 130 {
			if p.Due(0) != (second == 60 || second == 120) {
				t.Errorf("second %d: due %v", second, p.Due(0))
			}
			p.Mark(0, 0, c.state)
			time.Sleep(time.Second)
			synctest.Wait()
		}
		if got := len(filesIn(t, dir)); got != 2 {
			t.Errorf("%d files", got)
		}
		r.Close()
	})
	r, _ := open(t, Options{Dir: t.TempDir(), Epochs: 3})
	p, c := r.Part(0), new(counter)
	var due []int64
	for epoch := range int64(8) {
		if p.Due(epoch) {
			due = append(due, epoch)
			p.Mark(epoch, epoch, c.state)
		}
	}
	if !slices.Equal(due, []int64{3, 6}) {
		t.Errorf("due after epochs %v", due)
	}
}
