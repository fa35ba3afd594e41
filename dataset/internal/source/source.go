// Package source lists the files of a table.
package source
