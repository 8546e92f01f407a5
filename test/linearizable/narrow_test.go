package main

import (
	"fmt"
	"math"
	"math/rand"
	"slices"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// Small histories, of which about half have an order, are judged alike with and without what versions rule out and what is
// implied.
func TestNarrow(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	verdicts, left := map[bool]int{}, 0
	for range 20_000 {
		history := randomHistory(random)
		narrowed := slices.Clone(history)
		narrow(narrowed)
		narrowed = unrepeated(narrowed)
		left += len(history) - len(narrowed)
		verdict := porcupine.CheckOperations(model, history)
		if verdict != porcupine.CheckOperations(model, narrowed) {
			t.Fatalf("%v is judged %v, and otherwise as %v", history, verdict, narrowed)
		}
		verdicts[verdict]++
	}
	if min(verdicts[true], verdicts[false], left) < 1_000 {
		t.Errorf("hardly different: %v, %v left out", verdicts, left)
	}
}

// While a token is issued for long, some instances accept the older one and others do not.
func TestUnrepeated(t *testing.T) {
	at := func(kind, value string, status int, call, end int64) porcupine.Operation {
		return porcupine.Operation{Input: operation{Kind: kind, Value: value, Status: status}, Call: call, Return: end}
	}
	history := []porcupine.Operation{
		at("issue", "oldest", 200, 0, 1), at("issue", "older", 200, 5, 11), at("use", "oldest", 200, 6, 40),
		at("issue", "newer", 200, 11, 9_000),
	}
	for n := range int64(60) {
		history = append(history, at("use", "older", 200, 11, 50+100*n), at("use", "older", 401, 100*n+60, 100*n+90))
	}
	if result := porcupine.CheckOperationsTimeout(model, unrepeated(history), 10*time.Second); result != porcupine.Ok {
		t.Error(result)
	}
}

// randomHistory runs operations one after the other, spreads their times, and may change a response.
func randomHistory(random *rand.Rand) []porcupine.Operation {
	now, history := state{version: 1}, []porcupine.Operation{}
	for place := range 3 + random.Intn(6) {
		op := operation{Kind: "read", Status: 200, Value: now.value, Version: now.version}
		switch random.Intn(6) {
		case 0:
			op = operation{Kind: "write", Status: 412, Value: "refused", IfMatch: max(1, now.version-1)}
		case 1, 2:
			now = state{now.version + 1, fmt.Sprint("change ", place)}
			op = operation{Kind: "write", Status: 200, Value: now.value, Version: now.version * random.Intn(2)}
		case 3:
			op = operation{Kind: "write", Value: fmt.Sprint("change ", place)}
			if random.Intn(2) == 0 {
				now = state{now.version + 1, op.Value}
			}
		}
		if random.Intn(12) == 0 {
			op.Version = max(0, op.Version+random.Intn(3)-1)
		}
		at := int64(10 * place)
		one := porcupine.Operation{Input: op, Call: at - random.Int63n(30), Return: at + 1 + random.Int63n(30)}
		if op.Status == 0 {
			one.Return = math.MaxInt64
		}
		history = append(history, one)
	}
	return history
}
