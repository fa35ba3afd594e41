package cli

import (
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// A progress shows how far the work is, a bar for each stage. A nil one shows nothing.
type progress struct {
	out   io.Writer
	mu    sync.Mutex
	stage string
	bar   *progressbar.ProgressBar
}

// newProgress returns a progress if the user wants one: "always", or "auto" when someone watches.
func (a *app) newProgress(when string) *progress {
	f, isFile := a.stderr.(*os.File)
	if when == "always" || when == "auto" && isFile && term.IsTerminal(int(f.Fd())) {
		return &progress{out: a.stderr}
	}
	return nil
}

// show sets the bar of a stage to done of total. A new stage gets a new bar.
func (p *progress) show(stage, detail string, done, total int64) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar == nil || p.stage != stage {
		p.clear()
		p.stage = stage
		p.bar = progressbar.NewOptions64(total, progressbar.OptionSetWriter(p.out), progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionSetWidth(30), progressbar.OptionClearOnFinish())
	}
	p.bar.Describe(stage + detail)
	p.bar.Set64(done) // it fails where nothing can be shown, which is no reason to stop
}

// end removes the bar, so that what follows stands on a clean line.
func (p *progress) end() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
}

func (p *progress) clear() {
	if p.bar != nil {
		p.bar.Clear()
		p.bar = nil
	}
}
