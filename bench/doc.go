// Package bench measures halfspace end to end beside its peers, in one run on one machine:
//
//	go test -run '^$' -bench Peer -benchtime 1x ./bench
//
// The peers are other people's programs. A benchmark whose peer isn't installed is skipped with a line that says so.
// TestOptima and TestSparsePeers compare optima with those of peers. With -table they write what the page of measurements
// shows.
//
// The scripts that time them are in the folder peers, beside a module of its own that measures other Go libraries.
package bench
