package history

import "fmt"

// A Kind is the method that was called.
type Kind uint8

const (
	Push Kind = iota
	Pop
	Steal
	IsEmpty
	Len
)

func (k Kind) String() string { return [...]string{"push", "pop", "steal", "isEmpty", "len"}[k] }

// Foreign is an item that no thread has pushed.
const Foreign = 255

// An Op is one call and what it returned.
type Op struct {
	Thread       int
	Kind         Kind
	Call, Return int64 // by the history's clock

	Item  int  // the item pushed, popped or stolen, from 1 on; 0: none; Foreign
	Lost  bool // Steal: it failed, though not for want of items
	AtTop bool // Pop: took the item at the top, as a thief does
	Grew  bool // Push: the ring may have grown
	Empty bool // IsEmpty: the answer
	Len   int  // Len: the answer
}

// claims reports whether the operation took an item at the top.
func (o *Op) claims() bool { return o.Item != 0 && (o.Kind == Steal || o.Kind == Pop && o.AtTop) }

// removes reports whether the operation took an item.
func (o *Op) removes() bool { return o.Item != 0 && (o.Kind == Steal || o.Kind == Pop) }

// putsBack reports whether the operation may have put bottom back: a Pop that did not take its item at the bottom.
func (o *Op) putsBack() bool { return o.Kind == Pop && (o.Item == 0 || o.AtTop) }

// overlaps reports whether neither of the two operations was over before the other began.
func (o *Op) overlaps(p *Op) bool { return o.Call < p.Return && p.Call < o.Return }

func (o *Op) String() string {
	switch {
	case o.Kind == Push && o.Grew:
		return fmt.Sprintf("push %d, may have grown", o.Item)
	case o.Kind == Push:
		return fmt.Sprintf("push %d", o.Item)
	case o.Kind == IsEmpty:
		return fmt.Sprintf("isEmpty: %v", o.Empty)
	case o.Kind == Len:
		return fmt.Sprintf("len: %d", o.Len)
	case o.Lost:
		return fmt.Sprintf("%v: lost", o.Kind)
	case o.Item == 0:
		return fmt.Sprintf("%v: empty", o.Kind)
	case o.AtTop:
		return fmt.Sprintf("%v: %d, at the top", o.Kind, o.Item)
	}
	return fmt.Sprintf("%v: %d", o.Kind, o.Item)
}
