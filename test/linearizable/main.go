// Judges recorded operations by Porcupine: is there an order, one operation after the other, that explains every
// response? Input: files of JSON lines, one operation each. Exit status 1 when one subject has no such order.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// An operation on one subject: an asset, or an application with its token.
type operation struct {
	Subject string
	// read or write of an asset, issue or use of a token.
	Kind string
	// The description that was read or written, or the token.
	Value string
	// The version that the response names, 0 without one.
	Version int
	// The version in If-Match, 0 without one.
	IfMatch int
	// 0: unanswered. It may have happened at any later time, or not at all.
	Status int
	// Monotonic nanoseconds. An unanswered operation returns when its client gave up.
	Call, Return int64
}

// What an asset or an application is at one moment.
type state struct {
	version int
	value   string
}

// step tells whether a subject in this state may give this response, and its state afterwards.
func step(from, input, _ any) (bool, any) {
	now, op := from.(state), input.(operation)
	matches := op.IfMatch == 0 || op.IfMatch == now.version
	written := state{now.version + 1, op.Value}
	switch [2]any{op.Kind, op.Status} {
	case [2]any{"read", 200}:
		return op.Value == now.value && op.Version == now.version, now
	case [2]any{"write", 200}:
		return matches && (op.Version == 0 || op.Version == written.version), written
	case [2]any{"write", 412}:
		return !matches, now
	case [2]any{"write", 0}:
		if matches {
			return true, written
		}
		return true, now
	case [2]any{"issue", 200}, [2]any{"issue", 0}:
		return true, state{value: op.Value}
	case [2]any{"use", 200}:
		return op.Value == now.value, now
	case [2]any{"use", 401}:
		return op.Value != now.value, now
	}
	return false, now
}

func describe(input, _ any) string {
	op := input.(operation)
	return fmt.Sprintf("%s %q version %d, If-Match %d: %d", op.Kind, op.Value, op.Version, op.IfMatch, op.Status)
}

var model = porcupine.Model{
	Init:              func() any { return state{version: 1} },
	Step:              step,
	DescribeOperation: describe,
	DescribeState:     func(now any) string { return fmt.Sprintf("%+v", now) },
}

// A subject that needs longer counts as refused: record less of it.
const patience = time.Minute

// judge returns one line for each subject whose operations have no order.
func judge(subjects map[string][]porcupine.Operation, directory string) []string {
	var refused []string
	for subject, history := range subjects {
		result, information := porcupine.CheckOperationsVerbose(model, history, patience)
		if result == porcupine.Ok {
			continue
		}
		picture := ""
		if directory != "" {
			picture = fmt.Sprintf("%s/%s.html", directory, subject)
			if err := porcupine.VisualizePath(model, information, picture); err != nil {
				picture = err.Error()
			}
		}
		refused = append(refused, fmt.Sprintf("%s: %s, %d operations %s", subject, result, len(history), picture))
	}
	slices.Sort(refused)
	return refused
}

// read groups operations by subject.
func read(lines io.Reader) (map[string][]porcupine.Operation, error) {
	subjects := map[string][]porcupine.Operation{}
	decoder := json.NewDecoder(bufio.NewReader(lines))
	decoder.DisallowUnknownFields()
	for {
		var op operation
		if err := decoder.Decode(&op); err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		if op.Status == 0 && (op.Kind == "read" || op.Kind == "use") {
			continue // A read without a response tells nothing.
		}
		one := porcupine.Operation{Input: op, Call: op.Call, Return: op.Return}
		if op.Status == 0 {
			one.Return = math.MaxInt64
		}
		subjects[op.Subject] = append(subjects[op.Subject], one)
	}
	for subject, history := range subjects {
		acceptDuringIssue(history)
		narrow(history)
		subjects[subject] = unrepeated(history)
	}
	return subjects, nil
}

// Instances keep what they know of a token for two seconds. An issuer that was lost cannot tell them.
const lease = int64(2 * time.Second)

// acceptDuringIssue lets the older token be accepted until the response with the newer one, which is all that the API
// promises: such a use may come before the issue.
func acceptDuringIssue(history []porcupine.Operation) {
	for place := range history {
		use := history[place].Input.(operation)
		if use.Kind != "use" || use.Status != 200 {
			continue
		}
		for _, other := range history {
			issue := other.Input.(operation)
			until := issue.Return
			if issue.Status == 0 {
				until += lease
			}
			if issue.Kind == "issue" && issue.Call <= use.Call && use.Call <= until {
				history[place].Call = min(history[place].Call, issue.Call)
			}
		}
	}
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "Usage: linearizable HISTORY.ndjson DIRECTORY-FOR-PICTURES")
		os.Exit(2)
	}
	file, err := os.Open(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	subjects, err := read(file)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if refused := judge(subjects, os.Args[2]); len(refused) > 0 {
		for _, line := range refused {
			fmt.Println(line)
		}
		os.Exit(1)
	}
}
