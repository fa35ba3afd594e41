package console

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"halfspace/internal/say"
)

// A Progress shows how far the work is: a bar for each stage on a terminal, lines of text elsewhere. A nil Progress shows nothing.
type Progress struct {
	out   io.Writer
	mu    sync.Mutex
	stage string
	bar   *progressbar.ProgressBar

	lines bool
	last  time.Time     // when the last line was written
	wait  time.Duration // until the next
}

// The time between two lines of a stage doubles from line to line, from firstWait up to mostWait.
const (
	firstWait = 2 * time.Second
	mostWait  = time.Minute
)

// NewProgress returns a progress, or nil. when is the value of --progress.
func (a *App) NewProgress(when string) *Progress {
	f, isFile := a.Stderr.w.(*os.File)
	watched := isFile && term.IsTerminal(int(f.Fd()))
	if when == "always" || when == "auto" && watched {
		return &Progress{out: a.Stderr, lines: !watched}
	}
	return nil
}

// Work shows a stage. What follows a colon in name is its detail.
func (p *Progress) Work(name string, done, total int64) {
	stage, detail, ok := strings.Cut(name, ":")
	if ok {
		detail = ":" + detail
	}
	p.Show(stage, detail, done, total)
}

// Show sets the bar of a stage to done of total. A new stage gets a new bar.
func (p *Progress) Show(stage, detail string, done, total int64) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lines {
		p.line(stage, detail, done, total, time.Now())
		return
	}
	if p.bar == nil || p.stage != stage {
		p.clear()
		p.stage = stage
		p.bar = progressbar.NewOptions64(total, progressbar.OptionSetWriter(p.out), progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionSetWidth(30), progressbar.OptionClearOnFinish())
	}
	p.bar.Describe(stage + detail)
	p.bar.Set64(done) // if the bar can't be shown, the work goes on
}

// line writes a line if the stage is new or enough time has passed.
func (p *Progress) line(stage, detail string, done, total int64, now time.Time) {
	switch {
	case p.stage != stage:
		p.stage, p.wait = stage, firstWait
	case now.Sub(p.last) < p.wait:
		return
	default:
		p.wait = min(2*p.wait, mostWait)
	}
	p.last = now
	share := ""
	if total > 0 {
		share = ", " + say.Percent(float64(done)/float64(total))
	}
	fmt.Fprintf(p.out, "%s%s%s\n", stage, detail, share)
}

// End removes the bar, so that what follows stands on a clean line.
func (p *Progress) End() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
}

func (p *Progress) clear() {
	if p.bar != nil {
		p.bar.Clear()
		p.bar = nil
	}
}
