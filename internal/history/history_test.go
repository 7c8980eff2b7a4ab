package history

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// at gives an operation its thread and times.
func at(thread int, call, ret int64, o Op) Op {
	o.Thread, o.Call, o.Return = thread, call, ret
	return o
}

func push(item int) Op   { return Op{Kind: Push, Item: item} }
func grow(item int) Op   { return Op{Kind: Push, Item: item, Grew: true} }
func pop(item int) Op    { return Op{Kind: Pop, Item: item} }
func popTop(item int) Op { return Op{Kind: Pop, Item: item, AtTop: true} }
func steal(item int) Op  { return Op{Kind: Steal, Item: item} }
func isEmpty(is bool) Op { return Op{Kind: IsEmpty, Empty: is} }
func length(n int) Op    { return Op{Kind: Len, Len: n} }

var lost = Op{Kind: Steal, Lost: true}

// A verdict is a history and the judgement that it must get.
type verdict struct {
	name    string
	initial int
	ops     []Op
	wrong   string // part of the error; "" means no error
}

func judge(t *testing.T, check func(h *History) error, verdicts []verdict) {
	for _, v := range verdicts {
		t.Run(v.name, func(t *testing.T) {
			err := check(&History{Initial: v.initial, Ops: v.ops})
			if v.wrong == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, v.wrong)
			}
		})
	}
}

func TestCheckDeque(t *testing.T) {
	judge(t, (*History).CheckDeque, []verdict{
		{"nothing", 0, nil, ""},
		{"one after the other", 0, []Op{
			at(0, 1, 2, push(1)), at(0, 3, 4, push(2)), at(0, 5, 6, push(3)), at(1, 7, 8, steal(1)),
			at(0, 9, 10, pop(3)), at(0, 11, 12, popTop(2)), at(0, 13, 14, pop(0)), at(1, 15, 16, steal(0))}, ""},
		{"initial items", 3, []Op{
			at(1, 1, 2, steal(1)), at(0, 3, 4, pop(3)), at(0, 5, 6, popTop(2)), at(0, 7, 8, pop(0))}, ""},

		{"popped twice", 0, []Op{at(0, 1, 2, push(1)), at(0, 3, 4, pop(1)), at(0, 5, 6, pop(1))}, "no order"},
		{"popped and stolen", 0, []Op{at(0, 1, 2, push(1)), at(0, 3, 6, pop(1)), at(1, 4, 5, steal(1))}, "no order"},
		{"stolen twice", 1, []Op{at(1, 1, 3, steal(1)), at(2, 2, 4, steal(1))}, "no order"},
		{"never pushed", 1, []Op{at(1, 1, 2, steal(7))}, "no order"},
		{"nobody's", 1, []Op{at(1, 1, 2, steal(Foreign))}, "no order"},
		{"stolen before it was pushed", 0, []Op{at(1, 1, 2, steal(1)), at(0, 3, 4, push(1))}, "no order"},
		{"stolen while it was pushed", 0, []Op{at(1, 1, 3, steal(1)), at(0, 2, 4, push(1))}, ""},
		{"an item is gone", 2, []Op{at(1, 1, 2, steal(1)), at(0, 3, 4, pop(0))}, "no order"},
		{"an item is gone, to a thread still at it", 2, []Op{
			at(1, 1, 2, steal(1)), at(2, 3, 6, steal(2)), at(0, 4, 5, pop(0))}, ""},

		{"a steal out of order", 2, []Op{at(1, 1, 2, steal(2)), at(1, 3, 4, steal(1))}, "no order"},
		{"steals in either order", 2, []Op{at(1, 1, 3, steal(2)), at(2, 2, 4, steal(1))}, ""},
		{"a pop out of order", 2, []Op{at(0, 1, 2, pop(1)), at(0, 3, 4, pop(2))}, "no order"},
		{"a pop of the newest but one while one is pushed", 1, []Op{
			at(0, 1, 2, push(2)), at(0, 3, 4, pop(1))}, "no order"},

		{"empty with an item certainly there", 1, []Op{at(1, 1, 2, steal(0)), at(0, 3, 4, pop(1))}, "no order"},
		{"empty between two items certainly there", 0, []Op{
			at(0, 1, 2, push(1)), at(1, 3, 8, steal(0)), at(0, 4, 5, push(2)), at(0, 6, 7, pop(2)),
			at(0, 9, 10, popTop(1))}, "no order"},
		{"empty while the only item is pushed and popped", 0, []Op{
			at(1, 1, 6, steal(0)), at(0, 2, 3, push(1)), at(0, 4, 5, popTop(1))}, ""},
		{"empty at one moment between two items", 0, []Op{
			at(0, 1, 2, push(1)), at(1, 3, 8, steal(0)), at(0, 4, 5, popTop(1)), at(0, 6, 7, push(2)),
			at(0, 9, 10, popTop(2))}, ""},
		{"isEmpty with an item certainly there", 1, []Op{at(1, 1, 2, isEmpty(true))}, "no order"},
		{"isEmpty while the last is popped", 1, []Op{at(1, 1, 3, isEmpty(true)), at(0, 2, 4, popTop(1))}, ""},
		{"not isEmpty with nothing there", 0, []Op{at(1, 1, 2, isEmpty(false))}, "no order"},
		{"not isEmpty after it was empty", 2, []Op{ // the example of the package comment
			at(1, 1, 2, steal(1)), at(0, 3, 12, pop(0)), at(2, 4, 11, steal(2)), at(1, 5, 6, steal(0)),
			at(1, 7, 10, isEmpty(false))}, ""},
		{"not isEmpty after it was empty, and no pop puts bottom back", 1, []Op{
			at(1, 1, 10, steal(1)), at(2, 2, 3, steal(0)), at(3, 4, 9, isEmpty(false))}, "no order"},
		{"lost after it was empty, and no pop puts bottom back", 1, []Op{
			at(1, 1, 10, steal(1)), at(2, 2, 3, steal(0)), at(3, 4, 9, lost)}, "no order"},
		{"lost after it was empty, to the last item that a pop puts back", 1, []Op{
			at(0, 1, 12, pop(0)), at(1, 2, 11, steal(1)), at(2, 3, 4, steal(0)), at(3, 5, 10, lost)}, ""},
		{"not isEmpty after it was empty, and nobody claims", 1, []Op{
			at(0, 1, 8, popTop(1)), at(1, 2, 3, steal(0)), at(0, 9, 14, push(2)), at(1, 10, 11, isEmpty(true)),
			at(1, 15, 16, isEmpty(true))}, "no order"},

		{"lost to a thief", 2, []Op{at(1, 1, 3, steal(1)), at(2, 2, 4, lost)}, ""},
		{"lost to the owner", 1, []Op{at(0, 1, 3, popTop(1)), at(2, 2, 4, lost)}, ""},
		{"lost to the owner at the other end", 2, []Op{at(0, 1, 3, pop(2)), at(2, 2, 4, lost)}, "lost to nobody"},
		{"lost to nobody", 1, []Op{at(1, 1, 2, lost)}, "lost to nobody"},
		{"lost to each other", 1, []Op{at(1, 1, 3, lost), at(2, 2, 4, lost)}, "lost to nobody"},
		{"lost to a thief that was done", 2, []Op{at(1, 1, 2, steal(1)), at(2, 3, 4, lost)}, "lost to nobody"},
		{"lost to a push", 1, []Op{at(0, 1, 3, push(2)), at(1, 2, 4, lost)}, "lost to nobody"},
		{"lost to growth, twice", 1, []Op{at(0, 1, 6, grow(2)), at(1, 2, 3, lost), at(1, 4, 5, lost)}, ""},
		{"lost to growth with nothing there", 0, []Op{at(1, 1, 2, lost), at(0, 3, 4, push(1))}, "lost to nobody"},
		{"lost to growth before there was an item", 0, []Op{
			at(0, 1, 6, grow(1)), at(1, 2, 3, lost), at(1, 4, 5, steal(0))}, "no order"},
		{"lost by two to the same claim", 1, []Op{at(1, 1, 6, steal(1)), at(2, 2, 4, lost), at(3, 3, 5, lost)}, ""},
		{"lost twice by one to the same claim", 1, []Op{
			at(1, 1, 6, steal(1)), at(2, 2, 3, lost), at(2, 4, 5, lost)}, "lost to nobody"},
		{"lost twice to two claims, the short one first", 2, []Op{
			at(1, 1, 8, steal(2)), at(3, 2, 4, steal(1)), at(2, 3, 5, lost), at(2, 6, 7, lost)}, ""},

		{"a length too small", 2, []Op{at(1, 1, 2, length(1))}, "possible are 2 to 2"},
		{"a length too large", 2, []Op{at(1, 1, 2, length(3))}, "possible are 2 to 2"},
		{"a length that counts what comes and goes", 1, []Op{
			at(0, 1, 3, push(2)), at(2, 2, 5, steal(1)), at(1, 4, 6, length(2))}, ""},
		{"a length of less than is certain", 3, []Op{
			at(2, 1, 3, steal(1)), at(1, 2, 4, length(1))}, "possible are 2 to 3"},
		{"a length of more than ever was", 1, []Op{
			at(2, 1, 2, steal(1)), at(0, 3, 5, push(2)), at(1, 4, 6, length(2))}, "possible are 0 to 1"},

		{"a push of a thief", 0, []Op{at(1, 1, 2, push(1))}, "thread 1 is not the owner"},
		{"a pop of a thief", 0, []Op{at(1, 1, 2, pop(0))}, "thread 1 is not the owner"},
	})
}

func TestCheckQueue(t *testing.T) {
	judge(t, (*History).CheckQueue, []verdict{
		{"nothing", 0, nil, ""},
		{"one after the other", 2, []Op{
			at(0, 1, 2, push(3)), at(1, 3, 4, push(4)), at(2, 5, 6, steal(1)), at(0, 7, 8, length(3)),
			at(1, 9, 10, steal(2)), at(1, 11, 12, steal(3)), at(2, 13, 14, isEmpty(false)), at(2, 15, 16, steal(4)),
			at(0, 17, 18, steal(0)), at(0, 19, 20, isEmpty(true))}, ""},

		{"stolen twice", 1, []Op{at(1, 1, 3, steal(1)), at(2, 2, 4, steal(1))}, "no order"},
		{"never pushed", 1, []Op{at(1, 1, 2, steal(Foreign))}, "no order"},
		{"stolen before it was pushed", 0, []Op{at(1, 1, 2, steal(1)), at(0, 3, 4, push(1))}, "no order"},
		{"an item is gone", 2, []Op{at(1, 1, 2, steal(1)), at(0, 3, 4, steal(0))}, "no order"},
		{"two pushes leave one item", 0, []Op{
			at(0, 1, 3, push(1)), at(1, 2, 4, push(2)), at(0, 5, 6, steal(2)), at(0, 7, 8, steal(0))}, "no order"},

		{"last in, first out", 0, []Op{
			at(0, 1, 2, push(1)), at(1, 3, 4, push(2)), at(2, 5, 6, steal(2)), at(2, 7, 8, steal(1))}, "no order"},
		{"pushed at the same time, in either order", 0, []Op{
			at(0, 1, 3, push(1)), at(1, 2, 4, push(2)), at(2, 5, 6, steal(2)), at(2, 7, 8, steal(1))}, ""},
		{"two pushes in an order that two thieves see differently", 0, []Op{
			at(0, 1, 3, push(1)), at(1, 2, 4, push(2)), at(0, 5, 6, push(3)), at(2, 7, 8, steal(3)),
			at(2, 9, 10, steal(1))}, "no order"},
		{"one's pushes out of order", 0, []Op{
			at(0, 1, 2, push(1)), at(0, 3, 6, push(2)), at(1, 4, 5, push(3)), at(2, 7, 8, steal(3)),
			at(2, 9, 10, steal(1))}, "no order"},

		{"empty with an item certainly there", 1, []Op{at(1, 1, 2, steal(0)), at(0, 3, 4, steal(1))}, "no order"},
		{"empty before one pushes", 0, []Op{at(1, 1, 3, steal(0)), at(0, 2, 4, push(1))}, ""},
		{"empty after one has pushed, while another pushes", 0, []Op{
			at(0, 1, 2, push(1)), at(1, 3, 8, push(2)), at(2, 4, 5, steal(0)), at(2, 9, 10, steal(1))}, "no order"},
		{"isEmpty with an item certainly there", 1, []Op{at(1, 1, 2, isEmpty(true))}, "no order"},
		{"not isEmpty with nothing there", 0, []Op{at(1, 1, 2, isEmpty(false))}, "no order"},
		{"not isEmpty while an item comes and goes", 0, []Op{
			at(1, 1, 6, isEmpty(false)), at(0, 2, 3, push(1)), at(2, 4, 5, steal(1))}, ""},
		{"not isEmpty after it was empty", 1, []Op{ // no Pop puts bottom back
			at(1, 1, 10, steal(1)), at(0, 2, 3, steal(0)), at(2, 4, 9, isEmpty(false))}, "no order"},

		{"lost to a thief", 2, []Op{at(1, 1, 3, steal(1)), at(2, 2, 4, lost)}, ""},
		{"lost to nobody", 1, []Op{at(1, 1, 2, lost)}, "lost to nobody"},
		{"lost to a push", 1, []Op{at(0, 1, 3, push(2)), at(1, 2, 4, lost)}, "lost to nobody"},
		{"lost to growth", 1, []Op{at(0, 1, 3, grow(2)), at(1, 2, 4, lost)}, ""},
		{"lost after the last item", 1, []Op{
			at(1, 1, 10, steal(1)), at(0, 2, 3, steal(0)), at(2, 4, 9, lost)}, "no order"},
		{"a length too large", 2, []Op{at(1, 1, 2, length(3))}, "possible are 2 to 2"},
		{"a length that counts a push to come", 0, []Op{
			at(1, 1, 2, length(1)), at(0, 3, 4, push(1))}, "possible are 0 to 0"},

		{"a pop", 1, []Op{at(0, 1, 2, pop(1))}, "a queue has no pop"},
	})
}

// TestCheckForm: a malformed history is refused.
func TestCheckForm(t *testing.T) {
	for _, check := range []func(*History) error{(*History).CheckDeque, (*History).CheckQueue} {
		judge(t, check, []verdict{
			{"two calls of one thread at once", 0, []Op{
				at(0, 1, 3, push(1)), at(0, 2, 4, push(2))}, "two calls at once"},
			{"a call that ends before it begins", 0, []Op{at(0, 2, 1, push(1))}, "two calls at once"},
			{"no item", 0, []Op{at(0, 1, 2, push(0))}, "items are numbers"},
			{"an item that is nobody's", 0, []Op{at(0, 1, 2, push(Foreign))}, "items are numbers"},
			{"too many items", Foreign, []Op{at(0, 1, 2, steal(1))}, "items are numbers"},
			{"an item pushed twice", 0, []Op{at(0, 1, 2, push(1)), at(0, 3, 4, push(1))}, "pushed once"},
			{"an initial item pushed", 1, []Op{at(0, 1, 2, push(1))}, "pushed once"},
			{"a pop that is lost", 0, []Op{at(0, 1, 2, Op{Kind: Pop, Lost: true})}, "only a steal"},
		})
	}
}

func TestFailureIsReadable(t *testing.T) {
	h := Of(1, [][]Op{
		{at(0, 1, 2, push(2)), at(0, 4, 8, popTop(2)), at(0, 11, 12, isEmpty(true))},
		{at(1, 3, 5, steal(2)), at(1, 9, 10, length(0))},
		{at(2, 6, 7, lost)}})
	require.EqualError(t, h.CheckDeque(), "no order of the calls explains the answers; "+
		`the longest explained part, thread by thread:
0: push 2; 0: pop: 2, at the top
initially 1 items: 1 to 1
  call return  thread
     1      2  0..  push 2
     3      5  .1.  steal: 2
     4      8  0|.  pop: 2, at the top
     6      7  |.2  steal: lost
     9     10  .1.  len: 0
    11     12  0..  isEmpty: true
`)
	require.Equal(t, 2, h.Overlapping())
	var tally Tally
	tally.Add(h)
	require.Equal(t, "1 of 1 histories with calls that overlap, 2.0 pairs in each of 6.0 calls; "+
		"1 stolen, 1 lost, 0 empty; "+
		"0 popped, 1 more at the top; may have grown 0 times", tally.String())
	require.Equal(t, "push 3, may have grown", new(grow(3)).String())
	require.Equal(t, "pop: empty", new(pop(0)).String())
}
