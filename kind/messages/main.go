// Messages prints what the Go types of Kubernetes say of their protobuf encoding.
//
//	messages table   < kinds   one line per message: its name, and of each field number, JSON name and type
//	messages vectors < kinds   objects of each message and kind as Go writes them: name, bytes in hexadecimal, JSON
//
// A kind is a line "group/version/kind name", name being that of its definition in OpenAPI.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
)

// kind is one that a server serves.
type kind struct{ group, version, kind, definition string }

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "messages:", err)
		os.Exit(1)
	}
}

func run(arguments []string, in io.Reader, out io.Writer) error {
	if len(arguments) != 1 {
		return fmt.Errorf("one argument is needed: table or vectors")
	}
	kinds, err := read(in)
	if err != nil {
		return fmt.Errorf("failed to read kinds: %w", err)
	}
	buffered := bufio.NewWriter(out)
	switch arguments[0] {
	case "table":
		err = table(buffered, kinds)
	case "vectors":
		err = vectors(buffered, kinds)
	default:
		err = fmt.Errorf("%q is neither table nor vectors", arguments[0])
	}
	if err != nil {
		return err
	}
	return buffered.Flush()
}

func read(in io.Reader) ([]kind, error) {
	var kinds []kind
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		name, definition, found := strings.Cut(lines.Text(), " ")
		parts := strings.Split(name, "/")
		if !found || len(parts) != 3 {
			return nil, fmt.Errorf("%q is no group/version/kind with a name", lines.Text())
		}
		kinds = append(kinds, kind{parts[0], parts[1], parts[2], definition})
	}
	return kinds, lines.Err()
}
