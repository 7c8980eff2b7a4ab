package protocol

import (
	"strconv"
	"strings"
)

// Keys of the records of a run. Run names are tokens, so no key of one run begins with those of another.

// StateKey is the key of the state of run.
func StateKey(run string) string { return "r." + run + ".state" }

// OutputKey is the key of the output of partition part.
func OutputKey(run string, part int) string { return "r." + run + ".o." + strconv.Itoa(part) }

// marksKey is the key of the set of predecessors of partition part that have an output.
func marksKey(run string, part int) string { return "r." + run + ".d." + strconv.Itoa(part) }

// endKey is the key of the set of sinks that have an output.
func endKey(run string) string { return "r." + run + ".d.end" }

// blockKey is the key of a block of a large set that is cut into so many blocks.
func blockKey(set string, blocks, block int) string {
	return set + "." + strconv.Itoa(blocks) + "." + strconv.Itoa(block)
}

// triesKey is the key of the attempts at partition part.
func triesKey(run string, part int) string { return "r." + run + ".f." + strconv.Itoa(part) }

// TriesKeys is the pattern of the keys of all attempts of a run, or with "*" of all runs.
func TriesKeys(run string) string { return "r." + run + ".f.*" }

// OutputKeys is the pattern of the keys of all outputs of a run.
func OutputKeys(run string) string { return "r." + run + ".o.*" }

// startTriesKey is the key of the attempts at the Start message.
func startTriesKey(run string) string { return "r." + run + ".f.start" }

// Changes reports whether the record of a key may be updated. Others are only created.
func Changes(key string) bool { return !strings.Contains(key, ".o.") }
