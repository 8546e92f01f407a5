package main

import (
	"strings"
	"testing"
)

const written = `
{"subject":"a","kind":"write","value":"one","version":2,"status":200,"call":0,"return":10}
{"subject":"a","kind":"write","value":"two","status":200,"call":20,"return":30}
`

func TestJudge(t *testing.T) {
	for name, test := range map[string]struct {
		history string
		refused bool
	}{
		"reads during a write may see it or not": {history: written + `
			{"subject":"a","kind":"read","value":"two","version":3,"status":200,"call":21,"return":22}
			{"subject":"a","kind":"read","value":"two","version":3,"status":200,"call":23,"return":24}`},
		"a stale read": {refused: true, history: written + `
			{"subject":"a","kind":"read","value":"one","version":2,"status":200,"call":31,"return":32}`},
		"a read that was seen, and then not": {refused: true, history: written + `
			{"subject":"a","kind":"read","value":"two","version":3,"status":200,"call":21,"return":22}
			{"subject":"a","kind":"read","value":"one","version":2,"status":200,"call":23,"return":24}`},
		"a write that was applied twice": {refused: true, history: written + `
			{"subject":"a","kind":"read","value":"one","version":4,"status":200,"call":31,"return":32}`},
		"a write that was lost": {refused: true, history: written + `
			{"subject":"a","kind":"write","value":"three","version":3,"status":200,"call":31,"return":32}`},
		"an unanswered write that happens later": {history: written + `
			{"subject":"a","kind":"write","value":"late","status":0,"call":21,"return":0}
			{"subject":"a","kind":"read","value":"two","version":3,"status":200,"call":31,"return":32}
			{"subject":"a","kind":"read","value":"late","version":4,"status":200,"call":41,"return":42}`},
		"an unanswered write that never happens": {history: written + `
			{"subject":"a","kind":"write","value":"late","status":0,"call":21,"return":0}
			{"subject":"a","kind":"read","value":"two","version":3,"status":200,"call":31,"return":32}`},
		"an unanswered write that happens twice": {refused: true, history: written + `
			{"subject":"a","kind":"write","value":"late","status":0,"call":11,"return":0}
			{"subject":"a","kind":"read","value":"late","version":3,"status":200,"call":12,"return":13}
			{"subject":"a","kind":"read","value":"late","version":5,"status":200,"call":41,"return":42}`},
		"If-Match of the version": {history: written + `
			{"subject":"a","kind":"write","value":"three","ifMatch":3,"version":4,"status":200,"call":31,"return":32}
			{"subject":"a","kind":"write","value":"four","ifMatch":3,"status":412,"call":41,"return":42}`},
		"If-Match of an older version": {refused: true, history: written + `
			{"subject":"a","kind":"write","value":"three","ifMatch":2,"version":4,"status":200,"call":31,"return":32}`},
		"412 for the version": {refused: true, history: written + `
			{"subject":"a","kind":"write","value":"three","ifMatch":3,"status":412,"call":31,"return":32}`},
		"many reads of a standby that overlap with two updates": {history: written + strings.Repeat(`
			{"subject":"a","kind":"read","value":"two","version":3,"status":200,"call":-900,"return":40}`, 40) + `
			{"subject":"a","kind":"read","value":"one","version":2,"status":200,"call":21,"return":22}`},
		"a stale read among many reads of a standby": {refused: true, history: written + strings.Repeat(`
			{"subject":"a","kind":"read","value":"two","version":3,"status":200,"call":-900,"return":40}`, 10) + `
			{"subject":"a","kind":"read","value":"one","version":2,"status":200,"call":31,"return":32}`},
		"unanswered reads tell nothing": {history: written + `
			{"subject":"a","kind":"read","value":"","status":0,"call":31,"return":32}
			{"subject":"a","kind":"use","value":"","status":0,"call":31,"return":32}`},
		"an unexpected status": {refused: true, history: written + `
			{"subject":"a","kind":"read","value":"","status":404,"call":31,"return":32}`},
		"a new token ends the old one": {history: `
			{"subject":"t","kind":"issue","value":"1","status":200,"call":0,"return":10}
			{"subject":"t","kind":"issue","value":"2","status":200,"call":20,"return":30}
			{"subject":"t","kind":"use","value":"1","status":401,"call":31,"return":32}
			{"subject":"t","kind":"use","value":"2","status":200,"call":31,"return":32}`},
		"the old token is accepted until the new one is there": {history: `
			{"subject":"t","kind":"issue","value":"1","status":200,"call":0,"return":10}
			{"subject":"t","kind":"issue","value":"2","status":200,"call":20,"return":30}
			{"subject":"t","kind":"use","value":"1","status":401,"call":21,"return":22}
			{"subject":"t","kind":"use","value":"1","status":200,"call":23,"return":24}`},
		"the old token is accepted": {refused: true, history: `
			{"subject":"t","kind":"issue","value":"1","status":200,"call":0,"return":10}
			{"subject":"t","kind":"issue","value":"2","status":200,"call":20,"return":30}
			{"subject":"t","kind":"use","value":"1","status":200,"call":31,"return":32}`},
		"the only token is refused": {refused: true, history: `
			{"subject":"t","kind":"issue","value":"1","status":200,"call":0,"return":10}
			{"subject":"t","kind":"use","value":"1","status":401,"call":31,"return":32}`},
	} {
		t.Run(name, func(t *testing.T) {
			subjects, err := read(strings.NewReader(test.history))
			if err != nil {
				t.Fatal(err)
			}
			if refused := judge(subjects, ""); (len(refused) > 0) != test.refused {
				t.Errorf("refused: %v", refused)
			}
		})
	}
}
