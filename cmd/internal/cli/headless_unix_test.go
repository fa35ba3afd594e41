//go:build unix

package cli

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"halfspace/internal/require"
)

// A browser is headless Chromium with one page. It speaks the DevTools protocol over two pipes
// (--remote-debugging-pipe): messages are JSON and end with a zero byte.
type browser struct {
	t       testing.TB
	to      io.Writer
	from    *bufio.Reader
	session string // session of the page
	last    int    // number of the last call
	console []string
	loaded  int
}

// startBrowser starts a browser, which ends with the test. It skips the test if Chromium isn't installed.
func startBrowser(t testing.TB) *browser {
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("SKIPPED: no chromium")
	}
	theirIn, ourOut, err := os.Pipe()
	require.NoError(t, err)
	ourIn, theirOut, err := os.Pipe()
	require.NoError(t, err)
	cmd := exec.Command(path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--hide-scrollbars", "--remote-debugging-pipe",
		"--user-data-dir="+filepath.Join(t.TempDir(), "profile"))
	cmd.ExtraFiles = []*os.File{theirIn, theirOut} // descriptors 3 and 4
	require.NoError(t, cmd.Start())
	theirIn.Close()
	theirOut.Close()
	b := &browser{t: t, to: ourOut, from: bufio.NewReader(ourIn)}
	t.Cleanup(func() {
		b.call("Browser.close", nil, nil)
		cmd.Wait() // its status has no further information
		ourIn.Close()
		ourOut.Close()
	})
	const patience = 2 * time.Minute
	ourIn.SetReadDeadline(time.Now().Add(patience)) // a browser that hangs fails the test
	var target struct{ TargetID, SessionID string }
	b.call("Target.createTarget", browserArgs{"url": "about:blank"}, &target)
	b.call("Target.attachToTarget", browserArgs{"targetId": target.TargetID, "flatten": true}, &target)
	b.session = target.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Accessibility", "Network"} {
		b.call(domain+".enable", nil, nil)
	}
	return b
}

type browserArgs map[string]any

// call calls a method and decodes its result, unless result is nil. It keeps the console messages that arrive before the
// result.
func (b *browser) call(method string, params browserArgs, result any) {
	b.t.Helper()
	b.last++
	text, err := json.Marshal(struct {
		ID        int         `json:"id"`
		Method    string      `json:"method"`
		Params    browserArgs `json:"params,omitempty"`
		SessionID string      `json:"sessionId,omitempty"`
	}{b.last, method, params, b.session})
	require.NoError(b.t, err)
	if _, err := b.to.Write(append(text, 0)); err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
	m := b.read(method)
	for m.ID != b.last {
		m = b.read(method)
	}
	if m.Error.Message != "" {
		b.t.Fatalf("%s: %s", method, m.Error.Message)
	}
	if result != nil {
		if err := json.Unmarshal(m.Result, result); err != nil {
			b.t.Fatalf("%s: %v", method, err)
		}
	}
}

type browserMessage struct {
	ID             int
	Method         string
	Params, Result json.RawMessage
	Error          struct{ Message string }
}

// read reads a message. It keeps console messages, and counts loaded pages.
func (b *browser) read(waiting string) (m browserMessage) {
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

// A look says how a page is shown.
type look struct {
	width int // width of the window, in pixels
	dark  bool
}

// show shows the page of a file. It returns the console messages. They include requests to load other files, which these
// pages forbid.
func (b *browser) show(path string, look look) []string {
	b.t.Helper()
	path, err := filepath.Abs(path)
	require.NoError(b.t, err)
	scheme := map[bool]string{false: "light", true: "dark"}[look.dark]
	b.call("Emulation.setDeviceMetricsOverride", browserArgs{"width": look.width, "height": 900, "deviceScaleFactor": 1, "mobile": look.width < 600}, nil)
	b.call("Emulation.setEmulatedMedia", browserArgs{"features": []browserArgs{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
	b.console = nil
	before := b.loaded
	b.call("Page.navigate", browserArgs{"url": "file://" + path}, nil)
	for b.loaded == before {
		b.read("loading")
	}
	return b.console
}

// eval evaluates a JavaScript expression in the page, and decodes its value, as JSON, into result.
func (b *browser) eval(expression string, result any) {
	b.t.Helper()
	var r struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	b.call("Runtime.evaluate", browserArgs{"expression": expression, "returnByValue": true}, &r)
	if r.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, r.ExceptionDetails)
	}
	if err := json.Unmarshal(r.Result.Value, result); err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
}

// A screenNode is a part of the page as a screen reader describes it.
type screenNode struct {
	role, name string
	level      int // level of a heading
}

// nodes returns the parts of the page in their order, as a screen reader receives them.
func (b *browser) nodes() (all []screenNode) {
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
	b.call("Accessibility.getFullAXTree", nil, &tree)
	for _, n := range tree.Nodes {
		if n.Ignored {
			continue
		}
		var node screenNode
		node.role, _ = n.Role.Value.(string)
		node.name, _ = n.Name.Value.(string)
		for _, p := range n.Properties {
			if level, ok := p.Value.Value.(float64); ok && p.Name == "level" {
				node.level = int(level)
			}
		}
		all = append(all, node)
	}
	return all
}

// printed returns the printed page, a PDF.
func (b *browser) printed() []byte {
	b.t.Helper()
	var r struct{ Data []byte }
	b.call("Page.printToPDF", nil, &r)
	return r.Data
}
