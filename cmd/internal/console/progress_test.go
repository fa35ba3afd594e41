package console

import (
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"halfspace/dataset"
	"halfspace/internal/humanize"
)

// watched returns a progress that writes lines to out, and its clock.
func watched(t *testing.T, out io.Writer) (*Progress, *time.Time) {
	p := New(t.Context(), io.Discard, out).NewProgress("always")
	clock := time.Unix(1e9, 0)
	p.now = func() time.Time { return clock }
	return p, &clock
}

// TestProgressLines: where nobody watches, progress is lines of text, the first of a step at once and then fewer and fewer. Each tells the rate
// and the time left.
func TestProgressLines(t *testing.T) {
	var out strings.Builder
	p, clock := watched(t, &out)
	for second := range int64(600) {
		p.Show(Step{Name: "training", Detail: "epoch " + humanize.Count(second), Done: 1000 * second, Total: 600_000, CountsRows: true})
		*clock = clock.Add(time.Second)
	}
	p.Rows("evaluating", 3, -1)
	p.Rows("evaluating", 4, -1)
	p.End()
	want := []int64{0, 2, 6, 14, 30, 62, 122, 182, 242, 302, 362, 422, 482, 542}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != len(want)+1 || lines[len(want)] != "evaluating: 3 rows" {
		t.Fatalf("lines are %q", lines)
	}
	for i, second := range want {
		text := "training: epoch " + humanize.Count(second) + ", " + humanize.Count(100*second/600) + " %"
		if second > 0 {
			text += ", 1,000 rows/s, " + humanize.Duration(time.Duration(600-second)*time.Second) + " left"
		}
		if lines[i] != text {
			t.Errorf("line %d is %q, want %q", i, lines[i], text)
		}
	}
	if strings.ContainsFunc(out.String(), func(r rune) bool { return r < ' ' && r != '\n' }) {
		t.Errorf("there are control characters in %q", out.String())
	}
}

// TestParts: a step tells what is known of it, and nothing else.
func TestParts(t *testing.T) {
	for want, s := range map[string]Step{
		"loading: 50 of 100 rows, 50 %, 10 rows/s, 5 s left":                     {Name: "loading", Done: 50, Total: 100, CountsRows: true},
		"loading: 50 rows, 10 rows/s, 5 s":                                       {Name: "loading", Done: 50, Total: -1, CountsRows: true},
		"checking: pass 7, 5 s":                                                  {Name: "checking", Detail: "pass 7", Done: 7},
		"judging: fold 2 of 5, 20 %, 20 s left":                                  {Name: "judging", Detail: "fold 2 of 5", Done: 1, Total: 5},
		"training: epoch 1, 25 % of the most, at most 15 s left":                 {Name: "training", Detail: "epoch 1", Done: 5, Total: 20, MayEndEarly: true},
		"training: epoch 1, 0 % of the most, 5 s":                                {Name: "training", Detail: "epoch 1", Done: 1, Total: 1e12, MayEndEarly: true},
		"looking: 7 of 5 rows, 100 %, 1.4 rows/s":                                {Name: "looking", Done: 7, Total: 5, CountsRows: true},
		"fitting: the path, 0 %, 5 s":                                            {Name: "fitting", Detail: "the path", Total: 5},
		"loading: 2,000,000 of 10,000,000 rows, 20 %, 400,000 rows/s, 20 s left": {Name: "loading", Done: 2e6, Total: 1e7, CountsRows: true},
	} {
		begun := time.Unix(1e9, 0)
		now := begun.Add(5 * time.Second)
		p := pace{begunAt: begun, grewAt: begun}
		p.reach(s.Done, now)
		if got := strings.Join(s.parts(&p, now), ", "); got != want {
			t.Errorf("%+v is shown as\n%q, want\n%q", s, got, want)
		}
	}
}

// TestPace: at a steady pace, the time left falls as the time passes, whether or not there is news. After a change of the pace it comes near
// the truth, and the share never falls.
func TestPace(t *testing.T) {
	begun := time.Unix(1e9, 0)
	p := pace{begunAt: begun, grewAt: begun}
	now, last := begun, 300*time.Second
	for tenth := range int64(1000) {
		now = now.Add(100 * time.Millisecond)
		if tenth%7 == 0 {
			p.reach(tenth+1, now)
		}
		left, known := p.left(3000, now)
		if !known || left > last || left < last-200*time.Millisecond {
			t.Fatalf("after %v: %v left, known: %t; %v before", now.Sub(begun), left, known, last)
		}
		last = left
	}
	for second := range int64(60) { // a tenth as fast
		now = now.Add(time.Second)
		p.reach(1000+second, now)
	}
	if rate := p.rate(); rate < 1 || rate > 5 {
		t.Errorf("the rate is %v a second after a minute at 1", rate)
	}
}

// TestLine: a line fits the terminal. A wide one has a bar, a narrow one loses the end of the detail first.
func TestLine(t *testing.T) {
	begun := time.Unix(1e9, 0)
	now := begun.Add(5 * time.Second)
	p := pace{begunAt: begun, grewAt: begun}
	p.reach(50, now)
	s := Step{Name: "training", Detail: strings.Repeat("é", 40), Done: 50, Total: 100, CountsRows: true}
	for most := range 200 {
		line := s.line(&p, now, most, true)
		if n := utf8.RuneCountInString(line); n > most || n < min(most, 60)-2 {
			t.Errorf("of %d characters: %q", most, line)
		}
		if strings.HasPrefix(line, "██████████░░░░░░░░░░ training") != (most >= 98) || strings.HasSuffix(line, ", 50 %, 10 rows/s, 5 s left") != (most >= 35) {
			t.Errorf("of %d characters: %q", most, line)
		}
	}
	loading := Step{Name: "loading", Done: 24_632, Total: 200_000, CountsRows: true}
	if line := loading.line(&pace{begunAt: now, grewAt: now}, now, 19, true); line != "loading, 12 %" {
		t.Errorf("with a part of a number: %q", line)
	}
	if line := s.line(&p, now, 150, false); !strings.HasPrefix(line, "##########.......... training") {
		t.Errorf("without Unicode: %q", line)
	}
}

// TestStepGoesOn: a step that goes on after another keeps its pace, and one that falls back begins again.
func TestStepGoesOn(t *testing.T) {
	var out strings.Builder
	p, clock := watched(t, &out)
	for fold := range int64(4) {
		p.Show(Step{Name: "folds", Detail: "fold " + humanize.Count(fold), Done: fold, Total: 4})
		p.Rows("writing", 1, 2)
		*clock = clock.Add(10 * time.Second)
	}
	p.End()
	for _, want := range []string{"\nfolds: fold 2, 50 %, 20 s left\n", "\nfolds: fold 3, 75 %, 10 s left\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in %q", want, out.String())
		}
	}
	out.Reset()
	p.Show(Step{Name: "folds", Done: 1, Total: 4})
	if out.String() != "folds, 25 %\n" {
		t.Errorf("after it fell back: %q", out.String())
	}
}

// TestNoteAbove: a note stands on a line of its own, and the line of the progress comes again below it.
func TestNoteAbove(t *testing.T) {
	var out strings.Builder
	a := New(t.Context(), io.Discard, &out)
	p := a.NewProgress("always")
	p.isShown = true // as on a terminal
	a.Note("it is %s", "so")
	if out.String() != "\r\x1b[Knote: it is so\n" || p.isShown {
		t.Errorf("%q", out.String())
	}
	p.End()
	a.Hush()
	a.Note("nobody reads this")
	if a.NewProgress("always") != nil || strings.Contains(out.String(), "nobody") {
		t.Errorf("hushed: %q", out.String())
	}
	if notes := a.Notes(); len(notes) != 2 {
		t.Errorf("the notes for reports are %q", notes)
	}
}

// TestReading: a pass over files is a step of its own, and the pass of a stream a part of a step that says nothing else for a while.
func TestReading(t *testing.T) {
	var out strings.Builder
	p, clock := watched(t, &out)
	show := p.Reading("loading")
	for second := range int64(8) {
		switch {
		case second < 2:
			show("looking at the columns", second, 2)
		case second < 4:
			show(dataset.PassRows, second-2, 2)
		case second == 4:
			p.Show(Step{Name: "training", Detail: "pass 3", Done: 300, CountsRows: true})
		default:
			show(dataset.PassAgain, second-4, 4)
		}
		*clock = clock.Add(time.Second)
	}
	p.Show(Step{Name: "training", Detail: "pass 4", Done: 400, CountsRows: true})
	*clock = clock.Add(5 * time.Second)
	show(dataset.PassAgain, 4, 4)
	p.End()
	want := "looking at the columns: 0 of 2 rows, 0 %\nloading: 0 of 2 rows, 0 %\ntraining: pass 3\ntraining: pass 3, this pass 50 %, 2 s\ntraining: pass 4, 25 rows/s, 9 s\n"
	if out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
	if (*Progress)(nil).Reading("loading") != nil {
		t.Error("a progress that shows nothing is told")
	}
}
