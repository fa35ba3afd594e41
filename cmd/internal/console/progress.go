package console

import (
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"

	"halfspace/dataset"
	"halfspace/internal/humanize"
)

// A Step is the state of one step of the work.
type Step struct {
	Name        string // name of the step; if Done is less than before, the step begins again
	Detail      string // text about the state; "" shows Done of Total, if they count rows
	Done, Total int64  // Total is 0 or less if the end isn't known
	CountsRows  bool   // Done counts rows; otherwise it counts steps of unequal length, which have no rate
	MayEndEarly bool   // the step may end before Total
}

// A Progress shows the state of the work: on a terminal one line that is rewritten, elsewhere lines of text. A nil
// Progress shows nothing.
type Progress struct {
	out  io.Writer
	term *os.File // nil if the output is no terminal
	now  func() time.Time

	mu        sync.Mutex // held while text is written
	step      Step
	paces     map[string]*pace // by the name of the step; a step may continue after another one
	passShare float64          // share of the rows that the current pass has read; 0 without a pass
	tick      *time.Timer      // nil before the first step, and after End
	paintedAt time.Time        // when the last line was written
	wait      time.Duration
	isShown   bool // the terminal shows a line

	begin      time.Time // when the progress was made
	printNotes func()    // prints the notes that are held; it is called once, after longestHold
}

// On a terminal the line is rewritten at most once per shortestRewrite, and each heartbeat even if nothing changed. The
// Python package gets new lines as often. Elsewhere the time between two lines of a step doubles from line to line, from
// firstWait up to mostWait.
const (
	shortestRewrite = 100 * time.Millisecond
	heartbeat       = time.Second
	firstWait       = 2 * time.Second
	mostWait        = time.Minute
	longestHold     = 2 * time.Second // then notes are shown above the line, since the report may be far away
)

// NewProgress returns a progress, or nil if nothing is to be shown. when is the value of --progress. Notes are written
// above the progress.
func (a *App) NewProgress(when string) *Progress {
	f := terminal(a.Stderr.w)
	if when == "never" || when == "auto" && f == nil || a.isHushed {
		return nil
	}
	a.progress = &Progress{out: a.Stderr, term: f, now: time.Now, paces: map[string]*pace{}, begin: time.Now(),
		printNotes: func() { a.printNotes(true) }}
	return a.progress
}

// Rows shows a step that has read or written rows rows. total is -1 if it isn't known.
func (p *Progress) Rows(name string, rows, total int64) {
	p.Show(Step{Name: name, Done: rows, Total: total, CountsRows: true})
}

// Reading returns the function that shows passes over files, nil if p is nil. A pass over the rows becomes a step with
// this name. A later pass over a stream is shown as a share of the running step.
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

// pass notes the share of the rows that the current pass has read.
func (p *Progress) pass(share float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.passShare = share
	if p.tick != nil {
		p.paint(p.now())
	}
}

// current returns the step with the share of its current pass added to Detail, if the pass has taken leastTime or more.
func (p *Progress) current(now time.Time) Step {
	s := p.step
	if p.passShare <= 0 || p.passShare >= 1 || now.Sub(p.paces[s.Name].grewAt) < leastTime || s.Detail == "" && s.CountsRows {
		return s
	}
	if s.Detail != "" {
		s.Detail += ", "
	}
	s.Detail += fmt.Sprintf("this pass %d %%", int(100*p.passShare))
	return s
}

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
		p.paintedAt, p.wait = time.Time{}, 0
	}
	if s.Name != p.step.Name || s.Done != p.step.Done {
		p.passShare = 0
	}
	p.step = s
	if was := p.paces[s.Name]; was == nil || s.Done < was.done {
		p.paces[s.Name] = &pace{begunAt: now, grewAt: now, done: s.Done}
	}
	p.paces[s.Name].reach(s.Done, now)
	p.paint(now)
}

// beat writes the line again, so that the time on it advances even if the step reports nothing.
func (p *Progress) beat() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tick != nil {
		p.paint(p.now())
		p.tick.Reset(heartbeat)
	}
}

// paint writes the line if enough time has passed since the last line.
func (p *Progress) paint(now time.Time) {
	wait := p.wait
	if p.term != nil || ForPython { // the Python package makes a bar of the lines
		wait = shortestRewrite
	}
	if !p.paintedAt.IsZero() && now.Sub(p.paintedAt) < wait {
		return
	}
	p.paintedAt, p.wait = now, min(max(firstWait, 2*p.wait), mostWait)
	if p.printNotes != nil && now.Sub(p.begin) >= longestHold {
		p.wipe()
		p.printNotes()
		p.printNotes = nil
	}
	pace, step := p.paces[p.step.Name], p.current(now)
	if p.term == nil {
		fmt.Fprintln(p.out, strings.Join(step.parts(pace, now), ", "))
		return
	}
	fmt.Fprint(p.out, "\r"+step.line(pace, now, width(p.term)-1, unicodeTerminal())+"\x1b[K")
	p.isShown = true
}

// End removes the line, so that the next text begins on an empty line.
func (p *Progress) End() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wipe()
	if p.tick != nil {
		p.tick.Stop()
		p.tick = nil
	}
}

func (p *Progress) wipe() {
	if p.isShown {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.isShown = false
	}
}

// above removes the line and calls f, which writes.
func (p *Progress) above(f func()) {
	if p == nil {
		f()
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wipe()
	f()
}

const barWidth = 20

// line returns the parts as a line of at most most characters, after a bar if there is room and the end is known. In a
// narrow terminal the detail loses its end.
func (s *Step) line(p *pace, now time.Time, most int, blocks bool) string {
	parts := s.parts(p, now)
	text := strings.Join(parts, ", ")
	n := utf8.RuneCountInString(text)
	if n > most {
		room := most - (n - utf8.RuneCountInString(parts[0]))
		if room < len(s.Name) { // too narrow: the last parts are cut too
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

// cut returns the first characters of a text, at most most. If that would cut a number, it leaves the number out.
func cut(text string, most int) string {
	r := []rune(text)
	n := max(0, min(len(r), most))
	for n > 0 && n < len(r) && ofNumber(r[n-1]) && ofNumber(r[n]) {
		n--
	}
	return strings.TrimRight(string(r[:n]), " ,:")
}

func ofNumber(c rune) bool { return unicode.IsDigit(c) || c == ',' || c == '.' }

// parts returns the name with the detail, the share that is done, the rate, and the time left. If the time left isn't
// known, the elapsed time is the last part.
func (s *Step) parts(p *pace, now time.Time) []string {
	what, detail := s.Name, s.Detail
	switch {
	case detail != "" || !s.CountsRows:
	case s.Total > 0:
		detail = humanize.Count(s.Done) + " of " + humanize.Plural(s.Total, "row")
	default:
		detail = humanize.Plural(s.Done, "row")
	}
	if detail != "" {
		what += ": " + detail
	}
	parts := []string{what}
	if s.Total > 0 {
		share := fmt.Sprintf("%d %%", int(100*s.share()))
		if s.MayEndEarly {
			share += " of the most"
		}
		parts = append(parts, share)
	}
	begun := now.Sub(p.begunAt) >= leastTime
	if rate := p.rate(); begun && rate > 0 && s.CountsRows {
		parts = append(parts, humanize.RoundedCount(rate)+" rows/s")
	}
	switch left, known := p.left(s.Total, now); {
	case !begun || s.Total > 0 && s.Done >= s.Total:
	case known && s.MayEndEarly:
		parts = append(parts, "at most "+humanize.Duration(left)+" left")
	case known:
		parts = append(parts, humanize.Duration(left)+" left")
	default:
		parts = append(parts, humanize.Duration(now.Sub(p.begunAt)))
	}
	return parts
}

func (s *Step) share() float64 { return min(1, max(0, float64(s.Done)/float64(s.Total))) }

// A pace is the rate of a step: a mean in which older intervals count less and less.
type pace struct {
	begunAt, grewAt time.Time // when the step began, and when done grew last
	done            int64     // the value at that time
	sum, seconds    float64   // the amount done, and the seconds that it took, both with fading weights
}

const (
	leastTime    = time.Second      // no rate and no time left is shown before
	memoryTime   = 10 * time.Second // an interval this long ago counts about a third; later, half of the step's time replaces it
	mostTimeLeft = 100 * 24 * time.Hour
)

// reach notes the amount that is done now.
func (p *pace) reach(done int64, now time.Time) {
	passed := now.Sub(p.grewAt).Seconds()
	if done <= p.done || passed <= 0 {
		return
	}
	fade := math.Exp(-passed / max(memoryTime, now.Sub(p.begunAt)/2).Seconds())
	p.sum, p.seconds = p.sum*fade+float64(done-p.done), p.seconds*fade+passed
	p.grewAt, p.done = now, done
}

// rate returns the amount done per second; 0 if it isn't known yet.
func (p *pace) rate() float64 {
	if p.seconds == 0 {
		return 0
	}
	return p.sum / p.seconds
}

// left returns the time until total is done. known is false if total or the rate isn't known, or if the time exceeds
// mostTimeLeft.
func (p *pace) left(total int64, now time.Time) (left time.Duration, known bool) {
	rate := p.rate()
	if total <= 0 || rate == 0 {
		return 0, false
	}
	seconds := float64(total-p.done)/rate - now.Sub(p.grewAt).Seconds()
	if seconds > mostTimeLeft.Seconds() {
		return 0, false
	}
	return max(0, time.Duration(seconds*float64(time.Second))), true
}

func terminal(w io.Writer) *os.File {
	if f, is := w.(*os.File); is && term.IsTerminal(int(f.Fd())) {
		return f
	}
	return nil
}

// usualWidth is the width used for a terminal that doesn't report its width.
const usualWidth = 80

func width(f *os.File) int {
	if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
		return w
	}
	return usualWidth
}

// unicodeTerminal tells whether the locale says that the terminal shows Unicode.
func unicodeTerminal() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if value := os.Getenv(name); value != "" {
			value = strings.ToUpper(value)
			return strings.Contains(value, "UTF-8") || strings.Contains(value, "UTF8")
		}
	}
	return false
}

// UnicodeWidth returns the width of the terminal that shows the results, if its locale has Unicode; otherwise 0.
func (a *App) UnicodeWidth() int {
	if f := terminal(a.Stdout.to.w); f != nil && unicodeTerminal() {
		return width(f)
	}
	return 0
}
