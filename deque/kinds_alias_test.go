package deque

// Aliases for tests outside the package.
type (
	ABP[T any]       = abp[T]
	BWoS[T any]      = bwos[T]
	BWoSFIFO[T any]  = bwosFIFO[T]
	PadWS[T any]     = padWS[T]
	PadWSConfig      = padWSConfig
	ADWS[T any]      = adws[T]
	PDQR[T any]      = pdqr[T]
	PDQS[T any]      = pdqs[T]
	PDQSGroup[T any] = pdqsGroup[T]
	Locked[T any]    = locked[T]
)

func NewABP[T any](capacity int) *ABP[T]                  { return newABP[T](capacity) }
func NewBWoS[T any](capacity, size int) *BWoS[T]          { return newBWoS[T](capacity, size) }
func NewBWoSFIFO[T any](capacity, size int) *BWoSFIFO[T]  { return newBWoSFIFO[T](capacity, size) }
func NewPadWS[T any](c PadWSConfig) *PadWS[T]             { return newPadWS[T](c) }
func NewADWS[T any](keep int) *ADWS[T]                    { return newADWS[T](keep) }
func NewPDQR[T any](keep int) *PDQR[T]                    { return newPDQR[T](keep) }
func NewPDQSGroup[T any](n, keep, mean int) *PDQSGroup[T] { return newPDQSGroup[T](n, keep, mean) }
func NewLocked[T any](capacity int) *Locked[T]            { return newLocked[T](capacity) }
