package allot

// Fair reports whether no job has more than one processor more than any deprived job has (document 003, section 5.1).
// The one is for rounding. Slices here and below are by job.
func Fair(desires, allotments []int) bool {
	for j, d := range desires {
		if allotments[j] >= d {
			continue
		}
		for _, a := range allotments {
			if a > allotments[j]+1 {
				return false
			}
		}
	}
	return true
}

// Efficient reports whether no processor is free while a job is deprived (document 003, section 5.1). More processors
// than there are may be in use.
func Efficient(processors int, desires, allotments []int) bool {
	deprived, used := false, 0
	for j, a := range allotments {
		deprived = deprived || a < desires[j]
		used += a
	}
	return !deprived || used >= processors
}

// Conservative reports whether no job has more than it desires (document 003, section 5.1).
func Conservative(desires, allotments []int) bool {
	for j, a := range allotments {
		if a > desires[j] {
			return false
		}
	}
	return true
}
