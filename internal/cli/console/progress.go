package console

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"halfspace/dataset"
	"halfspace/internal/say"
)

// A Step is how far a step of the work is.
type Step struct {
	Name        string // of the step; one whose Done is less than before begins again
	Detail      string // what is reached; "" stands for Done of Total, if there is a Unit
	Done, Total int64  // Total is 0 or less where the end isn't known
	Unit        Unit   // of Done
	AtMost      bool   // the step may end before Total
}

// A Unit is what a step counts.
type Unit string

const (
	Other Unit = ""     // steps of unequal length, which have no rate
	Rows  Unit = "row"  // rows
	Bytes Unit = "byte" // bytes of files
)

// A Progress shows how far the work is: a line that is written again and again on a terminal, lines of text elsewhere. A nil Progress shows
// nothing.
type Progress struct {
	out  io.Writer
	term *os.File // nil elsewhere
	now  func() time.Time

	mu      sync.Mutex // held while something is written
	step    Step
	paces   map[string]*pace // of each step, which may go on after another
	passed  float64          // share of the rows that a pass of the step has read; 0 without one
	tick    *time.Timer      // nil before the first step, and after End
	painted time.Time        // when the last line was written
	wait    time.Duration
	shown   bool // the terminal shows a line
}

// On a terminal the line is written at most every oftenest, and every second also without news. Elsewhere the time between two lines of a
// step doubles from line to line, from firstWait up to mostWait.
const (
	oftenest  = 100 * time.Millisecond
	heartbeat = time.Second
	firstWait = 2 * time.Second
	mostWait  = time.Minute
)

// NewProgress returns a progress, or nil. when is the value of --progress. Notes are written above it.
func (a *App) NewProgress(when string) *Progress {
	f := terminal(a.Stderr.w)
	if when == "never" || when == "auto" && f == nil || a.hushed {
		return nil
	}
	a.progress = &Progress{out: a.Stderr, term: f, now: time.Now, paces: map[string]*pace{}}
	return a.progress
}

// Rows shows a step that has read or written so many rows. total is -1 if it isn't known.
func (p *Progress) Rows(name string, rows, total int64) {
	p.Show(Step{Name: name, Done: rows, Total: total, Unit: Rows})
}

// Reading returns what shows passes over files. A pass over the rows is a step of this name, and one of a stream is a part of the step that runs.
func (p *Progress) Reading(name string) func(pass dataset.Pass, rows, total int64) {
	if p == nil {
		return nil
	}
	return func(pass dataset.Pass, rows, total int64) {
		switch pass {
		case dataset.PassRows:
			p.Rows(name, rows, total)
		case dataset.PassAgain:
			p.pass(float64(rows) / float64(total))
		default:
			p.Rows(string(pass), rows, total)
		}
	}
}

// pass notes which share of the rows a pass of the step has read.
func (p *Progress) pass(share float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.passed = share
	if p.tick != nil {
		p.paint(p.now())
	}
}

// current returns the step as it is shown. A pass that takes a while is a part of it.
func (p *Progress) current(now time.Time) Step {
	s := p.step
	if p.passed <= 0 || p.passed >= 1 || now.Sub(p.paces[s.Name].at) < leastTime || s.Detail == "" && s.Unit != Other {
		return s
	}
	if s.Detail != "" {
		s.Detail += ", "
	}
	s.Detail += fmt.Sprintf("this pass %d %%", int(100*p.passed))
	return s
}

// Show shows how far a step is.
func (p *Progress) Show(s Step) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if p.tick == nil {
		p.tick = time.AfterFunc(heartbeat, p.beat)
		p.step = Step{}
	}
	if s.Name != p.step.Name {
		p.painted, p.wait = time.Time{}, 0
	}
	if s.Name != p.step.Name || s.Done != p.step.Done {
		p.passed = 0
	}
	p.step = s
	if was := p.paces[s.Name]; was == nil || s.Done < was.done {
		p.paces[s.Name] = &pace{begun: now, at: now, done: s.Done}
	}
	p.paces[s.Name].reach(s.Done, now)
	p.paint(now)
}

// beat writes the line again: time passes also where a step says nothing.
func (p *Progress) beat() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tick != nil {
		p.paint(p.now())
		p.tick.Reset(heartbeat)
	}
}

// paint writes the line if enough time has passed since the last.
func (p *Progress) paint(now time.Time) {
	wait := p.wait
	if p.term != nil {
		wait = oftenest
	}
	if !p.painted.IsZero() && now.Sub(p.painted) < wait {
		return
	}
	p.painted, p.wait = now, min(max(firstWait, 2*p.wait), mostWait)
	pace, step := p.paces[p.step.Name], p.current(now)
	if p.term == nil {
		fmt.Fprintln(p.out, strings.Join(step.parts(pace, now), ", "))
		return
	}
	fmt.Fprint(p.out, "\r"+step.line(pace, now, width(p.term)-1, unicodeTerminal())+"\x1b[K")
	p.shown = true
}

// End removes the line, so that what follows stands on a clean one.
func (p *Progress) End() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	if p.tick != nil {
		p.tick.Stop()
		p.tick = nil
	}
}

func (p *Progress) clear() {
	if p.shown {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.shown = false
	}
}

// above has f write above the line.
func (p *Progress) above(f func()) {
	if p == nil {
		f()
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	f()
}

// barWidth is the number of characters of a bar.
const barWidth = 20

// line returns the parts as a line of at most so many characters, after a bar if there is room and the end is known. In a narrow terminal the
// detail loses its end.
func (s *Step) line(p *pace, now time.Time, most int, blocks bool) string {
	parts := s.parts(p, now)
	text := strings.Join(parts, ", ")
	n := utf8.RuneCountInString(text)
	if n > most {
		room := most - (n - utf8.RuneCountInString(parts[0]))
		if room < len(s.Name) { // so narrow that the last parts go
			return cut(text, most)
		}
		parts[0] = cut(parts[0], room)
		return strings.Join(parts, ", ")
	}
	if s.Total <= 0 || n+1+barWidth > most {
		return text
	}
	full, empty := "#", "."
	if blocks {
		full, empty = "█", "░"
	}
	filled := int(s.share() * barWidth)
	return strings.Repeat(full, filled) + strings.Repeat(empty, barWidth-filled) + " " + text
}

// cut returns the beginning of a text, of at most so many characters. It leaves out a number that it would cut.
func cut(text string, most int) string {
	r := []rune(text)
	n := max(0, min(len(r), most))
	for n > 0 && n < len(r) && ofNumber(r[n-1]) && ofNumber(r[n]) {
		n--
	}
	return strings.TrimRight(string(r[:n]), " ,:")
}

// ofNumber tells whether a character is part of a number.
func ofNumber(c rune) bool { return unicode.IsDigit(c) || c == ',' || c == '.' }

// parts returns the name with the detail, the share that is done, the rate, and the time left. Where that isn't known, the time so far is the
// last.
func (s *Step) parts(p *pace, now time.Time) []string {
	what, detail := s.Name, s.Detail
	if detail == "" && s.Unit != Other {
		detail = s.count()
	}
	if detail != "" {
		what += ": " + detail
	}
	parts := []string{what}
	if s.Total > 0 {
		share := fmt.Sprintf("%d %%", int(100*s.share()))
		if s.AtMost {
			share += " of the most"
		}
		parts = append(parts, share)
	}
	begun := now.Sub(p.begun) >= leastTime
	if rate := p.rate(); begun && rate > 0 {
		switch s.Unit {
		case Rows:
			parts = append(parts, say.About(rate)+" rows/s")
		case Bytes:
			parts = append(parts, say.Size(int64(rate))+"/s")
		}
	}
	switch left, known := p.left(s.Total, now); {
	case !begun || s.Total > 0 && s.Done >= s.Total:
	case known && s.AtMost:
		parts = append(parts, "at most "+say.Duration(left)+" left")
	case known:
		parts = append(parts, say.Duration(left)+" left")
	default:
		parts = append(parts, say.Duration(now.Sub(p.begun)))
	}
	return parts
}

// count returns how many rows or bytes are done, of how many.
func (s *Step) count() string {
	switch {
	case s.Unit == Bytes && s.Total > 0:
		return say.Size(s.Done) + " of " + say.Size(s.Total)
	case s.Unit == Bytes:
		return say.Size(s.Done)
	case s.Total > 0:
		return say.Count(s.Done) + " of " + say.Plural(s.Total, string(s.Unit))
	}
	return say.Plural(s.Done, string(s.Unit))
}

// share returns the share that is done.
func (s *Step) share() float64 { return min(1, max(0, float64(s.Done)/float64(s.Total))) }
