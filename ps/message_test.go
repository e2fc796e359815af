package ps

import "testing"

// Tags differ if any field differs, up to the limits of the fields.
func TestTagsHaveRoomForEveryField(t *testing.T) {
	seen := map[uint32]bool{}
	for kind := range kindHalt + 1 {
		for _, server := range []int{0, 1, maxServers - 1} {
			for _, index := range []int{0, 1, maxSpans - 1} {
				for _, piece := range []int{0, 1, maxPieces - 1} {
					for _, reply := range []uint32{0, fromServer} {
						one := tag(kind, server, index, piece) | reply
						if seen[one] {
							t.Fatalf("tag %#x of kind %d, server %d, index %d, piece %d is taken", one,
								kind, server, index, piece)
						}
						seen[one] = true
					}
				}
			}
		}
	}
}
