package main

import (
	"math"
	"slices"

	"github.com/anishathalye/porcupine"
)

// narrow spares Porcupine orders that versions rule out: nothing comes before the call of what is earlier, or after the
// return of what is later. Otherwise a read that a standby may answer overlaps with all updates of five seconds.
// It only takes orders away, so it lets no wrong history pass.
func narrow(history []porcupine.Operation) {
	recorded, ranks := slices.Clone(history), ranksOf(history)
	// Porcupine first tries what was called first. At the same time that is what is earlier.
	scale := int64(slices.Max(ranks) + 1)
	for place, one := range recorded {
		for other, two := range recorded {
			if ranks[place] == 0 || ranks[other] == 0 {
				continue
			}
			if ranks[other] < ranks[place] {
				one.Call = max(one.Call, two.Call)
			}
			if ranks[other] > ranks[place] {
				one.Return = min(one.Return, two.Return)
			}
		}
		// Without a possible moment, Porcupine shall see what was recorded.
		if one.Call > one.Return {
			one = history[place]
		}
		history[place].Call = one.Call*scale + int64(ranks[place])
		if one.Return < math.MaxInt64 {
			history[place].Return = one.Return*scale + scale - 1
		}
	}
}

// ranksOf returns places in the only possible order: an update to a version, reads of it, the next update. Zero is unknown.
func ranksOf(history []porcupine.Operation) []int {
	// The response to a bulk update names no version, but reads of its value do.
	versions := map[string]int{}
	for _, one := range history {
		if op := one.Input.(operation); op.Kind == "read" {
			versions[op.Value] = op.Version
		}
	}
	ranks := make([]int, len(history))
	for place, one := range history {
		switch op := one.Input.(operation); {
		case op.Kind == "read":
			ranks[place] = 2*op.Version + 1
		case op.Kind == "write" && op.Status == 200 && op.Version > 0:
			ranks[place] = 2 * op.Version
		case op.Kind == "write" && op.Status != 412:
			ranks[place] = 2 * versions[op.Value]
		}
	}
	return ranks
}

// unrepeated leaves out what is implied. Porcupine would try every choice among such operations before it refuses one.
func unrepeated(history []porcupine.Operation) []porcupine.Operation {
	var kept []porcupine.Operation
	for _, one := range history {
		if slices.ContainsFunc(kept, func(two porcupine.Operation) bool { return isImplied(one, two) }) {
			continue
		}
		kept = slices.DeleteFunc(kept, func(two porcupine.Operation) bool { return isImplied(two, one) })
		kept = append(kept, one)
	}
	return kept
}

// isImplied tells whether an operation changes nothing and its time holds that of an equal one: where that fits, it does.
func isImplied(one, by porcupine.Operation) bool {
	response, other := one.Input.(operation), by.Input.(operation)
	changes := response.Status == 0 || response.Kind == "issue" || response.Kind == "write" && response.Status != 412
	response.Call, response.Return, other.Call, other.Return = 0, 0, 0, 0
	return !changes && response == other && one.Call <= by.Call && by.Return <= one.Return
}
