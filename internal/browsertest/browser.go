// Package browsertest shows HTML pages in headless Chromium, for tests. It speaks the DevTools protocol over two pipes
// (--remote-debugging-pipe): messages are JSON and end with a zero byte.
package browsertest

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// A Browser is a running Chromium with one page.
type Browser struct {
	t       testing.TB
	to      io.Writer
	from    *bufio.Reader
	session string // session of the page
	last    int    // number of the last call
	console []string
	loaded  int
}

// Start starts a browser, which ends with the test. It skips the test if Chromium isn't installed.
func Start(t testing.TB) *Browser {
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("SKIPPED: no chromium")
	}
	theirIn, ourOut := pipe(t)
	ourIn, theirOut := pipe(t)
	cmd := exec.Command(path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--hide-scrollbars", "--remote-debugging-pipe",
		"--user-data-dir="+filepath.Join(t.TempDir(), "profile"))
	cmd.ExtraFiles = []*os.File{theirIn, theirOut} // descriptors 3 and 4
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirIn.Close()
	theirOut.Close()
	b := &Browser{t: t, to: ourOut, from: bufio.NewReader(ourIn)}
	t.Cleanup(func() {
		b.Call("Browser.close", nil, nil)
		cmd.Wait() // its status has no further information
		ourIn.Close()
		ourOut.Close()
	})
	const patience = 2 * time.Minute
	ourIn.SetReadDeadline(time.Now().Add(patience)) // a browser that hangs fails the test
	var target struct{ TargetID, SessionID string }
	b.Call("Target.createTarget", args{"url": "about:blank"}, &target)
	b.Call("Target.attachToTarget", args{"targetId": target.TargetID, "flatten": true}, &target)
	b.session = target.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Accessibility", "Network"} {
		b.Call(domain+".enable", nil, nil)
	}
	return b
}

func pipe(t testing.TB) (r, w *os.File) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	return r, w
}

type args map[string]any

// Call calls a method and decodes its result, unless result is nil. It keeps the console messages that arrive before
// the result.
func (b *Browser) Call(method string, params args, result any) {
	b.t.Helper()
	b.last++
	text, err := json.Marshal(struct {
		ID        int    `json:"id"`
		Method    string `json:"method"`
		Params    args   `json:"params,omitempty"`
		SessionID string `json:"sessionId,omitempty"`
	}{b.last, method, params, b.session})
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.to.Write(append(text, 0)); err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
	for {
		m := b.read(method)
		if m.ID != b.last {
			continue
		}
		if m.Error.Message != "" {
			b.t.Fatalf("%s: %s", method, m.Error.Message)
		}
		if result != nil {
			if err := json.Unmarshal(m.Result, result); err != nil {
				b.t.Fatalf("%s: %v", method, err)
			}
		}
		return
	}
}

type message struct {
	ID             int
	Method         string
	Params, Result json.RawMessage
	Error          struct{ Message string }
}

// read reads a message. It keeps console messages, and counts loaded pages.
func (b *Browser) read(waiting string) (m message) {
	text, err := b.from.ReadBytes(0)
	if err == nil {
		err = json.Unmarshal(text[:len(text)-1], &m)
	}
	if err != nil {
		b.t.Fatalf("%s: %v", waiting, err)
	}
	switch m.Method {
	case "Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded":
		b.console = append(b.console, string(m.Params))
	case "Page.loadEventFired":
		b.loaded++
	}
	return m
}

// A Look says how a page is shown.
type Look struct {
	Width int // width of the window, in pixels
	Dark  bool
}

// Show shows the page of a file. It returns the console messages. They include requests to load other files, which
// these pages forbid.
func (b *Browser) Show(path string, look Look) []string {
	b.t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		b.t.Fatal(err)
	}
	scheme := "light"
	if look.Dark {
		scheme = "dark"
	}
	b.Call("Emulation.setDeviceMetricsOverride", args{"width": look.Width, "height": 900, "deviceScaleFactor": 1, "mobile": look.Width < 600}, nil)
	b.Call("Emulation.setEmulatedMedia", args{"features": []args{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
	b.console = nil
	before := b.loaded
	b.Call("Page.navigate", args{"url": "file://" + path}, nil)
	for b.loaded == before {
		b.read("loading")
	}
	return b.console
}

// Eval evaluates a JavaScript expression in the page, and decodes its value, as JSON, into result.
func (b *Browser) Eval(expression string, result any) {
	b.t.Helper()
	var r struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	b.Call("Runtime.evaluate", args{"expression": expression, "returnByValue": true}, &r)
	if r.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, r.ExceptionDetails)
	}
	if err := json.Unmarshal(r.Result.Value, result); err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
}

// A Node is a part of the page as a screen reader describes it.
type Node struct {
	Role, Name string
	Level      int // level of a heading
}

// Nodes returns the parts of the page in their order, as a screen reader receives them.
func (b *Browser) Nodes() (all []Node) {
	b.t.Helper()
	type value struct{ Value any }
	var tree struct {
		Nodes []struct {
			Ignored    bool
			Role, Name value
			Properties []struct {
				Name  string
				Value value
			}
		}
	}
	b.Call("Accessibility.getFullAXTree", nil, &tree)
	text := func(v value) string {
		s, _ := v.Value.(string)
		return s
	}
	for _, n := range tree.Nodes {
		if n.Ignored {
			continue
		}
		node := Node{Role: text(n.Role), Name: text(n.Name)}
		for _, p := range n.Properties {
			if level, ok := p.Value.Value.(float64); ok && p.Name == "level" {
				node.Level = int(level)
			}
		}
		all = append(all, node)
	}
	return all
}

// Screenshot returns a picture of the whole page, a PNG.
func (b *Browser) Screenshot() []byte {
	return b.data("Page.captureScreenshot", args{"captureBeyondViewport": true})
}

// Print returns the printed page, a PDF.
func (b *Browser) Print() []byte { return b.data("Page.printToPDF", nil) }

func (b *Browser) data(method string, params args) []byte {
	b.t.Helper()
	var r struct{ Data []byte }
	b.Call(method, params, &r)
	return r.Data
}
